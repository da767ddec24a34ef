# SPDX-License-Identifier: MIT
"""What is a validated program worth? Errors are planted in code that runs, and counted by who sees.

    python -m benchmarks.planted [PROGRAM ...]      plant; write the tables of the guide

Every kind of error of `scripts.edits` is planted in every bundled program after -Oz, in blocks
that some input reaches. The rungs are asked one after the other, until one reports it. Of
what none reports it is asked on inputs that no rung uses whether it has an effect, and then
whether LLVM makes the same code of the program with and without it. The rest is counted as
what it is: not shown to differ by anything.

A run takes hours and may be ended at any time: what is judged is kept below the cache, or in
the folder of `--run`, and not judged again. `python -m benchmarks planted` does the same.
"""

import argparse
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median

import compiler_gym
from benchmarks.measure import Figure
from benchmarks.tables import programs_of, write_table
from compiler_gym.datasets import Benchmark, RunCase, RunLimits
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.validation.alive import is_proved
from compiler_gym.envs.llvm.validation.build import REFERENCE, find_opt, link_program
from compiler_gym.envs.llvm.validation.generated import Effort, make_corpus
from compiler_gym.envs.llvm.validation.runs import FURTHER, compare_module, more_cases
from compiler_gym.envs.llvm.validation.sanitizers import SANITIZERS, collect_reports
from compiler_gym.files import scratch_directory
from compiler_gym.files.paths import cache_path
from compiler_gym.runs import RunFolder
from compiler_gym.validation import Compared, Verdict, choose_cases, run_program
from scripts.plant import KINDS, MARK, Edit, plant, with_marks

LEVEL = "-Oz"
ORACLE = 100
"""Inputs of each sort that no rung uses: an effect that only they show was missed."""
SECONDS = 2.0
"""Time limit of an edited program: many hang."""
RUNGS = ("run", "more", "generated", "asan", "msan")
"""Those that look at a module, in the order in which they are asked."""
MISSED, SAME, PROVED, SILENT, UNREACHED = (
    "missed", "same code", "proved", "not shown to differ", "not reached",
)  # fmt: skip
OUTCOMES = (*RUNGS, MISSED, PROVED, SAME, SILENT, UNREACHED)

_ASAN, _, _MSAN = SANITIZERS
_FILE = "reached-blocks"
_WRITER = f"""
#include <fcntl.h>
#include <unistd.h>
static unsigned char reached[1 << 20];
static int file = -1;
__attribute__((constructor)) static void open_file(void) {{
  int opened = open("{_FILE}", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  file = fcntl(opened, F_DUPFD_CLOEXEC, 900);
  close(opened);
}}
void {MARK}(int block) {{ reached[block] = 1; }}
__attribute__((destructor)) static void write_file(void) {{
  if (write(file, reached, sizeof reached) < 0) _exit(99);
}}
"""


@dataclass(frozen=True, slots=True)
class Planted:
    """One edit, who reported it first, and what asking each rung took."""

    program: str
    kind: str
    function: str
    before: str
    after: str
    outcome: str
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    """Wall time of each rung that was asked; the last of them is the one that reported."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A program to plant in."""

    name: str
    benchmark: Benchmark
    ir: str
    """The optimised program."""
    reached: frozenset[int]
    """The blocks of it that some input reaches."""
    more: Sequence[RunCase]
    generated: Sequence[RunCase]
    oracle: Sequence[RunCase]
    """Inputs that no rung uses."""


def measure() -> list[Figure]:
    """Plant in every program, write the tables and return the shares."""
    with _folder(None, each=1) as run:
        rows = planted(programs_of([]), run=run, each=1)
    write_tables(rows)
    return figures(rows)


def figures(rows: Sequence[Planted]) -> list[Figure]:
    """Return what share of the errors is reported, and by how much each rung adds to it."""
    counts = Counter(row.outcome for row in rows)
    seen = sum(counts[rung] for rung in RUNGS)
    effects = max(seen + counts[MISSED], 1)
    return [
        Figure(
            "errors with an effect that are reported", 100 * seen / effects, "%", 99, "at least"
        ),
        *(Figure(f"of them by {rung} first", 100 * counts[rung] / effects, "%") for rung in RUNGS),
        Figure("errors not shown to differ", counts[SILENT], ""),
    ]


def planted(
    programs: Sequence[str],
    *,
    each: int,
    jobs: int = 1,
    oracle: int = ORACLE,
    run: RunFolder | None = None,
    kinds: Sequence[str] = tuple(KINDS),
    share: int = 1,
    is_quiet: bool = False,
) -> list[Planted]:
    """Plant `each` edits of every kind in every program and return who reported them.

    With a `run` folder each edit is kept when it is judged, and not judged again. With a
    `share` of N each program gets every Nth kind, and the next program the kinds after those;
    others count if they are kept already. A `share` of 0 judges nothing.
    """
    shares = {
        name: kinds[number % share :: share] if share else ()
        for number, name in enumerate(sorted(programs))
    }
    say = _Progress(len(programs) * len(kinds) * each, is_quiet)

    def judge_all(name: str) -> list[Planted]:
        work = [(kind, seed) for kind in kinds for seed in range(each)]
        ground: Ground | None = None
        rows: list[Planted] = []
        for kind, seed in work:
            kept = _known(run, name, kind, seed)
            if kept is None and kind not in shares[name]:
                say.one(None, "not asked")
                continue
            if kept is None:
                ground = ground or _ground(name, oracle)
                row = _judged(ground, run, kind, seed)
            else:
                row = kept[0]
            rows += [row] if row is not None else []
            say.one(row)
        return rows

    with ThreadPoolExecutor(jobs) as pool:
        rows = [row for found in pool.map(judge_all, programs) for row in found]
    # Small programs have few places for an edit: two seeds may choose the same.
    return list({(r.program, r.kind, r.function, r.before, r.after): r for r in rows}.values())


class _Progress:
    """Says every ten seconds how far it is."""

    def __init__(self, total: int, is_quiet: bool) -> None:
        self._total, self._done, self._is_quiet = total, 0, is_quiet
        self._started = self._said = time.monotonic()
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def one(self, row: Planted | None, otherwise: str = "no place") -> None:
        with self._lock:
            self._done += 1
            self._counts[row.outcome if row else otherwise] += 1
            now = time.monotonic()
            if self._is_quiet or (now - self._said < 10 and self._done < self._total):
                return
            self._said = now
            told = ", ".join(f"{n} {name}" for name, n in self._counts.most_common())
            seconds = f"{now - self._started:.0f} s"
            print(f"{self._done}/{self._total}, {seconds}: {told}", file=sys.stderr, flush=True)


def _key(name: str, kind: str, seed: int) -> str:
    return f"{name}: {kind}: {seed}"


def _known(run: RunFolder | None, name: str, kind: str, seed: int) -> tuple[Planted | None] | None:
    """Return what is kept of an edit, which may have no place; None if nothing is known."""
    found = None if run is None else run.find_result(_key(name, kind, seed))
    if found is None:
        return None
    return (Planted(**found) if found else None,)


def _judged(ground: Ground, run: RunFolder | None, kind: str, seed: int) -> Planted | None:
    edit = plant(ground.ir, kind, seed, reached=ground.reached, is_valid=_is_valid)
    row = None
    if edit is not None:
        outcome, seconds = judge(ground, edit)
        row = Planted(
            ground.name, kind, edit.function, edit.before, edit.after, outcome,
            {name: round(spent, 2) for name, spent in seconds.items()},
        )  # fmt: skip
    if run is not None:
        run.record(_key(ground.name, kind, seed), {} if row is None else asdict(row))
    return row


def judge(ground: Ground, edit: Edit) -> tuple[str, dict[str, float]]:
    """Return what becomes of `edit`, and how long each rung took that was asked."""
    text = _exploited(edit.text, edit.kind)
    seconds: dict[str, float] = {}
    for name, differs in _rungs(ground).items():
        started = time.monotonic()
        is_seen = differs(text)
        seconds[name] = time.monotonic() - started
        if is_seen:
            return name, seconds
    if _differs(ground.benchmark, ground.oracle, text):
        return MISSED, seconds
    original = _exploited(ground.ir, edit.kind)
    if _optimised(original) == _optimised(text):
        return SAME, seconds
    if is_proved(original, text):
        return PROVED, seconds
    assert ground.benchmark.run is not None
    recorded = choose_cases(ground.benchmark.run)
    everything = [*recorded, *ground.more, *ground.generated, *ground.oracle]
    is_reached = _differs(ground.benchmark, everything, edit.marked.encode())
    return (SILENT if is_reached else UNREACHED), seconds


def _rungs(ground: Ground) -> dict[str, Callable[[bytes], bool]]:
    benchmark, spec = ground.benchmark, ground.benchmark.run
    assert spec is not None
    few = choose_cases(spec, most=6)
    return {
        "run": partial(_differs, benchmark, None),
        "more": partial(_differs, benchmark, ground.more),
        "generated": partial(_differs, benchmark, ground.generated),
        "asan": lambda text: bool(collect_reports(_ASAN, text, few, spec.link)),
        "msan": lambda text: bool(collect_reports(_MSAN, text, few, spec.link)),
    }


def _differs(benchmark: Benchmark, cases: Sequence[RunCase] | None, module: bytes) -> bool:
    compared = Compared.EVERYTHING if cases and _is_made(cases) else Compared.RESULTS
    found = compare_module(benchmark, module, cases, compared=compared)
    return found.verdict is Verdict.FAILED


def _is_made(cases: Sequence[RunCase]) -> bool:
    return any(case.size == "generated" for case in cases)


def _ground(name: str, oracle: int) -> Ground:
    with compiler_gym.make("llvm-v0", action_space="PassesAndPipelines") as env:
        assert isinstance(env, LlvmEnv)
        env.reset(benchmark=f"cbench-v1/{name}")
        env.multistep([env.action_space[LEVEL]])
        benchmark, ir = env.benchmark, env.ir
    assert benchmark is not None
    assert benchmark.run is not None
    benchmark.run = spec = replace(benchmark.run, time_limit=SECONDS)
    unseen = [spec.more(n) for n in range(FURTHER, FURTHER + oracle)] if spec.more else []
    if oracle:
        unseen += make_corpus(benchmark, Effort(tries=2 * oracle, most=oracle, seed=1)).cases
    more, generated = more_cases(spec), make_corpus(benchmark).cases
    reached = _reached(ir, [*choose_cases(spec), *more, *generated, *unseen], spec.link)
    return Ground(name, benchmark, ir, reached, more, generated, unseen)


def _reached(ir: str, cases: Sequence[RunCase], link: Sequence[str]) -> frozenset[int]:
    """Return the blocks of `ir` that some input reaches."""
    found: set[int] = set()
    with scratch_directory("marks") as name:
        writer = Path(name, "writer.c")
        writer.write_text(_WRITER)
        program = link_program(
            with_marks(ir).encode(),
            Path(name, "program"),
            link=(str(writer), *link),
            flags=REFERENCE,
        )
        for case in cases:
            asked = replace(case, outputs=(_FILE,), expected=None)
            bits = run_program(program, asked, limits=RunLimits(seconds=10.0)).files.get(_FILE, b"")
            found.update(number for number, byte in enumerate(bits.rstrip(b"\0")) if byte)
    return frozenset(found)


def _is_valid(text: str) -> bool:
    return _opt(text, "verify") is not None


def _exploited(text: str, kind: str) -> bytes:
    """Return `text` after the passes that make an error of `kind` matter."""
    passes = KINDS[kind].exploit
    if not passes:
        return text.encode()
    done = _opt(text, passes)
    if done is None:
        raise RuntimeError(f"the passes after {kind} failed")
    return done


def _optimised(module: bytes) -> str:
    """Return a hash of what -O2 makes of `module`, whatever the names of its values."""
    done = _opt(module.decode(), "default<O2>")
    return sha256(done or b"").hexdigest()


def _opt(text: str, passes: str) -> bytes | None:
    command = [find_opt(), f"-passes={passes}", "-S", "-", "-o", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def detection_table(rows: Sequence[Planted]) -> str:
    """Return who reported the errors of each kind first, and what became of the others."""
    lines = [
        "| error | planted | " + " | ".join(f"`{rung}`" for rung in RUNGS) + " | missed "
        "| proved equal | same code after `-O2` | not shown to differ | not reached |",
        "|---|" + "--:|" * (1 + len(OUTCOMES)),
    ]
    counts = Counter((row.kind, row.outcome) for row in rows)
    for kind in (kind for kind in KINDS if any(row.kind == kind for row in rows)):
        lines.append(_line(kind, [counts[kind, outcome] for outcome in OUTCOMES]))
    totals = Counter(row.outcome for row in rows)
    lines.append(_line("all", [totals[outcome] for outcome in OUTCOMES]))
    seen = sum(totals[rung] for rung in RUNGS)
    effects = seen + totals[MISSED]
    lines += [
        "",
        f"{len(rows)} errors in {len({row.program for row in rows})} programs after {LEVEL}. "
        f"{seen} of the {effects} whose effect some input shows are reported.",
    ]
    return "\n".join(lines)


def _line(name: str, numbers: Sequence[int]) -> str:
    return f"| {name} | {sum(numbers)} | " + " | ".join(map(str, numbers)) + " |"


def rungs_table(rows: Sequence[Planted]) -> str:
    """Return how often each rung was asked, what it reported first and how long it took."""
    lines = ["| rung | asked | reported first | median s | longest s |", "|---|--:|--:|--:|--:|"]
    for rung in RUNGS:
        spent = [row.seconds[rung] for row in rows if rung in row.seconds]
        first = sum(row.outcome == rung for row in rows)
        if spent:
            words = (len(spent), first, f"{median(spent):.1f}", f"{max(spent):.0f}")
            lines.append(f"| `{rung}` | " + " | ".join(map(str, words)) + " |")
    return "\n".join(lines)


def programs_table(rows: Sequence[Planted]) -> str:
    """Return the same by program."""
    lines = [
        "| program | planted | reported | missed | equal | not shown to differ | not reached |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name in dict.fromkeys(row.program for row in rows):
        counts = Counter(row.outcome for row in rows if row.program == name)
        numbers = (
            counts.total(),
            sum(counts[rung] for rung in RUNGS),
            counts[MISSED],
            counts[SAME] + counts[PROVED],
            counts[SILENT],
            counts[UNREACHED],
        )
        lines.append(f"| {name} | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join(lines)


def write_tables(rows: Sequence[Planted]) -> None:
    """Write the tables into the guide."""
    write_table("planted", detection_table(rows))
    write_table("rungs", rungs_table(rows))
    write_table("programs", programs_table(rows))


def _folder(path: Path | None, each: int) -> RunFolder:
    config = {"level": LEVEL, "oracle": ORACLE, "each": each, "kinds": list(KINDS)}
    place = path or cache_path(f"benchmarks/planted-{each}")
    return RunFolder.open(place, "evaluation", config)


def main() -> None:
    """Plant what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.planted",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("programs", nargs="*", help="bundled programs [default: all]")
    parser.add_argument("--each", type=int, default=1, help="errors of each kind in each program")
    parser.add_argument(
        "--share",
        type=int,
        default=1,
        metavar="N",
        help="every Nth kind in each program: a sample; 0: only write what is kept",
    )
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--run", type=Path, help="a run folder: goes on from there")
    parser.add_argument("--print", action="store_true", help="write no page")
    options = parser.parse_args()
    with _folder(options.run, options.each) as run:
        rows = planted(
            programs_of(options.programs),
            each=options.each,
            jobs=options.jobs,
            run=run,
            share=options.share,
        )
    for row in rows:
        if row.outcome in (MISSED, SILENT):
            print(f"{row.outcome}: {row.program} {row.function}: {row.before} -> {row.after}")
    print(detection_table(rows), rungs_table(rows), programs_table(rows), sep="\n\n")
    if not options.print:
        write_tables(rows)


if __name__ == "__main__":
    main()
