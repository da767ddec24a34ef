# SPDX-License-Identifier: MIT
"""Work an environment hard, break it on purpose, and see whether anything is left behind.

    python -m benchmarks.soak --seconds 60            a minute
    python -m benchmarks.soak --steps 10000000        a night; Ctrl-C ends it and prints the counts

Random steps on random programs, with forks, observations and validations in between. Workers
are killed, aborted and stopped in mid-episode: each must end as a truncated episode with the
right error, and the next reset must work. It runs in a process of its own with directories
of its own, so that afterwards every process, descriptor, file and byte can be counted.

Leaves with 0 if all is well, with 1 if anything was wrong or is left, with 130 if it was
interrupted and all is well.
"""

import argparse
import gc
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure
from compiler_gym import make
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, WorkerCrashedError, WorkerTimeoutError
from compiler_gym.service.limits import adopt_orphans
from compiler_gym.testing import descendants, wait_until, worker_pid

STEPS = 100_000
EPISODE = 50
MOST_LIVE = 4
HANG_SECONDS = 0.5
INTERRUPTED = 130
"""The exit status after Ctrl-C."""

_CRASHES = {
    "kill -9": (signal.SIGKILL, WorkerCrashedError),
    "abort": (signal.SIGABRT, WorkerCrashedError),
    "segmentation fault": (signal.SIGSEGV, WorkerCrashedError),
    "hang": (signal.SIGSTOP, WorkerTimeoutError),
}
_DIRECTORIES = {
    "TMPDIR": "tmp",
    "COMPILER_GYM_TRANSIENT_CACHE": "transient",
    "COMPILER_GYM_CACHE": "cache",
    "COMPILER_GYM_LOGS": "logs",
}
_KEPT = ("cache",)
"""What is there for later processes on purpose."""
_GROWN = 1.5
"""Memory of the second half against the first: more than that is wrong."""


@dataclass(frozen=True, slots=True)
class Options:
    """How much, and how often what happens."""

    steps: int = STEPS
    seconds: float = 0.0
    """Ends after so long, whatever was done; 0: when the steps are done."""
    seed: int = 0
    programs: tuple[str, ...] = ()
    """Bundled programs; none means all."""
    crash_every: int = 200
    fork_every: int = 40
    observe_every: int = 10
    validate_every: int = 1000


@dataclass(slots=True)
class Report:
    """What happened and what was left behind."""

    steps: int = 0
    seconds: float = 0.0
    is_interrupted: bool = False
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """How often what happened, by kind."""
    memory: list[int] = field(default_factory=list[int])
    """KiB of the client and one worker, along the way."""
    wrong: list[str] = field(default_factory=list[str])
    """What must not happen."""
    left: list[str] = field(default_factory=list[str])
    """Processes, descriptors, threads and files that nobody has removed."""

    @property
    def growth(self) -> float:
        """Memory of the second half against the first."""
        later = len(self.memory) // 2
        early, late = self.memory[later // 4 : later], self.memory[later:]
        return max(late) / max(early) if early and late else 1.0

    @property
    def is_well(self) -> bool:
        """Whether nothing was wrong and nothing is left."""
        return not self.wrong and not self.left and self.growth <= _GROWN


def measure() -> list[Figure]:
    """Return the figures of a hundred thousand steps."""
    return figures(run_apart(Options()))


def figures(report: Report) -> list[Figure]:
    """Return `report` as figures."""
    planted = sum(n for name, n in report.counts.items() if name.startswith("planted"))
    compilers = sum(n for name, n in report.counts.items() if name.startswith("by itself"))
    return [
        Figure(f"{report.steps:,} random steps", report.steps / report.seconds, "steps/s"),
        Figure("memory of the second half against the first", report.growth, "x", 1.05),
        Figure("episodes that a pass ended", compilers, ""),
        Figure("crashes planted", planted, ""),
        Figure("processes, descriptors and files left", len(report.left), "", 0),
        Figure("anything else that was wrong", len(report.wrong), "", 0),
    ]


class Soak:
    """The work itself, in this process."""

    def __init__(self, options: Options) -> None:
        self.report = Report()
        self._options, self._random = options, random.Random(options.seed)
        self._counts: Counter[str] = Counter()
        self._live: list[CompilerEnv] = []
        self._programs: list[str] = []
        self._stop = threading.Event()

    def stop(self) -> None:
        """End after the step that is being made."""
        self._stop.set()
        self.report.is_interrupted = True

    def run(self, say: Callable[[Report], None] = lambda report: None) -> Report:
        """Work, close everything and return what happened; `say` is told now and then."""
        self._warm_up()
        before, processes = _descriptors(), descendants(os.getpid())
        started = said = time.monotonic()
        self._live = [self._made()]
        sampled = max(self._options.steps // 200, 1)
        while not self._is_over(started):
            self._once()
            self.report.steps += 1
            if self.report.steps % sampled == 0:
                self.report.memory.append(_resident("self") + self._worker_memory())
            if time.monotonic() - said > 5:
                said = time.monotonic()
                self._sum_up(started)
                say(self.report)
        for env in self._live:
            env.close()
        self._sum_up(started)
        say(self.report)
        self._look_for_the_rest(before, processes)
        return self.report

    def _is_over(self, started: float) -> bool:
        options = self._options
        is_late = options.seconds and time.monotonic() - started > options.seconds
        return self._stop.is_set() or bool(is_late) or self.report.steps >= options.steps

    def _sum_up(self, started: float) -> None:
        self.report.seconds = time.monotonic() - started
        self.report.counts = dict(sorted(self._counts.items()))

    def _made(self) -> CompilerEnv:
        env = make("llvm-v0", reward_space="IrInstructionCountOz", observation_space="Autophase")
        chosen = [f"benchmark://cbench-v1/{name}" for name in self._options.programs]
        uris = env.datasets["benchmark://cbench-v1"].benchmark_uris()
        self._programs = chosen or list(uris)
        env.reset(benchmark=self._random.choice(self._programs))
        return env

    def _warm_up(self) -> None:
        """Open what a process opens once, so that it does not count as left behind.

        The process that workers are made of stays until this one ends: it is looked for then.
        """
        with self._made() as env:
            env.step(0)
            env.fork().close()
            env.validate()

    def _once(self) -> None:
        env = self._random.choice(self._live)
        options = self._options
        if self._comes(options.crash_every):
            self._crash(env)
        elif self._comes(options.validate_every):
            self._guarded("validation", self._validate, env)
        elif self._comes(options.fork_every):
            self._guarded("fork", self._fork_or_close, env)
        elif self._comes(options.observe_every):
            self._guarded("observation", self._observe, env)
        elif self._comes(EPISODE):
            self._guarded("reset", self._reset, env)
        else:
            self._guarded("action", self._step, env)

    def _comes(self, every: int) -> bool:
        """Return whether what happens once in `every` steps happens now; 0 is never."""
        return every > 0 and self._random.random() * every < 1

    def _guarded(self, name: str, work: Callable[[CompilerEnv], None], env: CompilerEnv) -> None:
        """Count `work`, or its typed error; anything else is wrong."""
        try:
            work(env)
            self._counts[f"{name}s"] += 1
        except CompilerGymError as error:
            self._counts[f"{name}: {type(error).__name__}"] += 1
            self._reset(env)
        except Exception as error:
            self.report.wrong.append(f"{name}: {type(error).__name__}: {error}")
            self._reset(env)

    def _step(self, env: CompilerEnv) -> None:
        _, _, _, truncated, info = env.step(self._random.randrange(env.action_space.n))
        if truncated:
            error = info.get("error")
            self._counts[f"by itself: {type(error).__name__}"] += 1
            self._reset(env)

    def _reset(self, env: CompilerEnv) -> None:
        env.reset(benchmark=self._random.choice(self._programs))

    def _observe(self, env: CompilerEnv) -> None:
        name = self._random.choice(list(env.observation.spaces))
        value = env.observation[name]
        space = env.observation.spaces[name].space
        if not space.contains(value):
            self.report.wrong.append(f"{name} is not in its space: {str(value)[:100]}")

    def _fork_or_close(self, env: CompilerEnv) -> None:
        if len(self._live) < MOST_LIVE:
            self._live.append(env.fork())
        else:
            self._live.pop(self._random.randrange(MOST_LIVE)).close()
            self._counts["forks closed early"] += 1
            self._counts["forks"] -= 1  # it is counted as one

    def _validate(self, env: CompilerEnv) -> None:
        result = env.validate()
        if not result.okay():
            self.report.wrong.append(f"a false alarm: {result}: {result.state.commandline}")
        for rung in result.rungs:
            self._counts[f"rung {rung.name}: {rung.verdict.value}"] += 1

    def _crash(self, env: CompilerEnv) -> None:
        """End the worker, or stop it, and see that the next step says so and a reset works."""
        name = self._random.choice(sorted(_CRASHES))
        number, wanted = _CRASHES[name]
        pid = worker_pid(env)
        if pid is None:
            return
        os.kill(pid, number)
        try:
            _, _, _, truncated, info = env.step(0, timeout=HANG_SECONDS if name == "hang" else None)
            error = info.get("error")
            if not truncated or not isinstance(error, wanted):
                self.report.wrong.append(f"after {name}: truncated is {truncated}, {error!r}")
            self._reset(env)
        except Exception as error:
            self.report.wrong.append(f"after {name}: {type(error).__name__}: {error}")
        self._counts[f"planted: {name}"] += 1

    def _worker_memory(self) -> int:
        pid = worker_pid(self._live[0])
        try:
            return _resident(str(pid))
        except (OSError, RuntimeError):
            return 0  # it has just ended

    def _look_for_the_rest(self, before: Counter[str], processes: set[int]) -> None:
        wait_until(lambda: descendants(os.getpid()) <= processes, seconds=10)
        gc.collect()  # closed environments hold their datasets
        left = [f"descriptor of {target}" for target in (_descriptors() - before)]
        left += [f"process {_command(pid)}" for pid in descendants(os.getpid()) - processes]
        others = [one for one in threading.enumerate() if one is not threading.main_thread()]
        left += [f"thread {one.name}" for one in others if not one.daemon]
        self.report.left += left


def run_apart(options: Options, *, is_quiet: bool = False) -> Report:
    """Return what `options` do in a process of their own, and what is there when it has ended."""
    adopt_orphans()
    ours = descendants(os.getpid())
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        base = Path(name)
        variables = {key: str(base / part) for key, part in _DIRECTORIES.items()}
        for folder in variables.values():
            Path(folder).mkdir()
        answer = base / "report.json"
        command = [sys.executable, "-m", "benchmarks.soak", "--inside", str(answer)]
        command += ["--options", json.dumps(asdict(options)), *(["--quiet"] if is_quiet else [])]
        root = Path(__file__).parents[1]
        process = subprocess.Popen(command, env=os.environ | variables, cwd=root)
        interrupts = 0
        while process.poll() is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                interrupts += 1
                process.send_signal(signal.SIGINT if interrupts < 3 else signal.SIGKILL)
        if answer.is_file():
            report = Report(**json.loads(answer.read_text()))
        else:
            report = Report(seconds=1.0, wrong=[f"it ended with status {process.returncode}"])
        _count_outside(report, base, ours)
    return report


def _count_outside(report: Report, base: Path, ours: set[int]) -> None:
    """Add the processes and files that are there after the end, and end and remove them."""
    wait_until(lambda: descendants(os.getpid()) <= ours, seconds=10)
    for pid in descendants(os.getpid()) - ours:
        report.left.append(f"process {_command(pid)}")
        os.kill(pid, signal.SIGKILL)
    for part in _DIRECTORIES.values():
        files = [path for path in (base / part).rglob("*") if not path.is_dir()]
        size = sum(path.lstat().st_size for path in files)
        if part in _KEPT:
            report.counts[f"bytes in the {part}"] = size
            continue
        report.left += [f"file {path.relative_to(base)}" for path in files]
        folders = [path for path in (base / part).rglob("*") if path.is_dir()]
        report.left += [f"directory {path.relative_to(base)}" for path in folders if part == "tmp"]


def _inside(answer: Path, options: Options, *, is_quiet: bool) -> None:
    soak = Soak(options)
    signal.signal(signal.SIGINT, lambda *_: soak.stop())
    signal.signal(signal.SIGTERM, lambda *_: soak.stop())
    report = soak.run((lambda _: None) if is_quiet else _progress(options))
    answer.write_text(json.dumps(asdict(report)))


def _progress(options: Options) -> Callable[[Report], None]:
    def say(report: Report) -> None:
        speed = report.steps / max(report.seconds, 1e-9)
        planted = sum(n for name, n in report.counts.items() if name.startswith("planted"))
        told = f"{planted} crashes planted, {len(report.wrong)} wrong"
        of = f"/{options.steps:,}" if not options.seconds else ""
        words = f"{report.steps:,}{of} steps in {report.seconds:.0f} s, {speed:.0f}/s: {told}"
        print(words, file=sys.stderr, flush=True)

    return say


def _descriptors() -> Counter[str]:
    """Return what this process has open, by what it is; sockets and pipes are alike."""
    found: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # that of the listing itself
        found[target.partition(":[")[0]] += 1
    return found


def _resident(process: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError(f"no VmRSS of {process}")


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        words = ""
    return f"{pid} {words}".strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = Options()
    for name in ("steps", "seed", "crash_every", "fork_every", "observe_every", "validate_every"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=known.seconds, help="end after so long")
    parser.add_argument("--programs", nargs="*", default=[], help="bundled programs [all]")
    parser.add_argument("--json", type=Path, help="write the counts here, too")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--options", help=argparse.SUPPRESS)
    return parser


def _options(given: argparse.Namespace) -> Options:
    if given.options:
        held: dict[str, Any] = json.loads(given.options)
        held["programs"] = tuple(held["programs"])
        return Options(**held)
    names = ("steps", "seed", "crash_every", "fork_every", "observe_every", "validate_every")
    chosen: dict[str, Any] = {
        name: getattr(given, name) for name in names if getattr(given, name) is not None
    }
    if given.seconds and "steps" not in chosen:
        chosen["steps"] = sys.maxsize
    return Options(**chosen, seconds=given.seconds, programs=tuple(given.programs))


def show(report: Report) -> None:
    """Print the counts and whatever is wrong."""
    width = max(map(len, report.counts), default=0)
    for name, number in report.counts.items():
        print(f"{name:{width}}  {number:>9,}")
    print(f"{report.steps:,} steps in {report.seconds:.0f} s; memory {report.growth:.2f}x")
    for line in (*(f"wrong: {one}" for one in report.wrong), *(f"left: {o}" for o in report.left)):
        print(line)
    print("all is well" if report.is_well else "something is wrong or was left behind")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says and return the exit status."""
    given = _parser().parse_args(arguments)
    options = _options(given)
    if given.inside:
        _inside(given.inside, options, is_quiet=given.quiet)
        return 0
    report = run_apart(options, is_quiet=given.quiet)
    show(report)
    if given.json:
        given.json.write_text(json.dumps(asdict(report), indent=2) + "\n")
    if not report.is_well:
        return 1
    return INTERRUPTED if report.is_interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
