# SPDX-License-Identifier: MIT
"""Which passes give other results in other runs? Look, rather than ask LLVM.

    python -m scripts.repeatability --minutes 10 --output found.json

Every run is a fresh process with its own addresses (randomisation is left on) and its own
history: other modules come and go first. It takes each program through the same prefix of
passes and tries every action of ``PassesAll`` and ``Pipelines`` on what that makes, each in
a fork, which may crash or hang. In every other run the fork walks the prefix itself, so
that a fork is compared with a replay. An action that makes two programs of one varies. What no
run showed is not proved: `passes.tsv` marks what some run showed.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compiler_gym._llvm import Module

__all__ = ["Spread", "main", "spread"]

PROGRAMS = (
    "cbench-v1/adpcm", "cbench-v1/bitcount", "cbench-v1/blowfish", "cbench-v1/dijkstra",
    "cbench-v1/patricia", "cbench-v1/qsort", "cbench-v1/stringsearch2", "cbench-v1/susan",
    "generator://csmith-v0/1", "generator://csmith-v0/7", "generator://csmith-v0/11",
)  # fmt: skip
LONGEST_PREFIX = 10
SECONDS = 1
"""Of one action: several hang."""
PROVED = 3
"""Places at which an action varied, after which it is not tried any more."""
MEMORY = 2 << 30
FAILED = "failed"

Spread = dict[str, dict[str, Counter[str]]]
"""How often an action made which program, by where it was applied."""


def spread(rows: Sequence[Sequence[str]]) -> Spread:
    """Return how often each action made which program: rows of place, action and hash.

    A crash or a time limit is no result: it says nothing of what the action makes.
    """
    found: Spread = defaultdict(lambda: defaultdict(Counter))
    for place, action, digest in rows:
        if digest != FAILED:
            found[action][place][digest] += 1
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure for as long as the command line says and write what varied."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--per-prefix", type=int, default=6, help="runs of every prefix")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], metavar="ACTION")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--history", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run is not None:
        _one_run(options.run, options.seed, options.history, options.only)
        return
    for rows in _measure(options):
        text = json.dumps(_summary(spread(rows), len(rows)), indent=1) + "\n"
        if options.output is not None:
            options.output.write_text(text, encoding="utf-8")
    sys.stdout.write(text)  # type: ignore[possibly-unbound]  # one prefix at least


def _summary(found: Spread, tries: int) -> dict[str, object]:
    varying = {
        action: {"of places": len(found[action]), "results": places}
        for action, places in _varying(found).items()
    }
    return {"tries": tries, "actions": len(found), "varying": varying}


def _measure(options: argparse.Namespace) -> Iterator[list[list[str]]]:
    """Yield all rows so far after each prefix."""
    actions = options.only or list(_pipelines(())[1])
    rows: list[list[str]] = []
    end = time.monotonic() + 60 * options.minutes
    prefix, asked = options.seed, options.only
    with tempfile.TemporaryDirectory() as folder:
        _write_programs(Path(folder))
        while time.monotonic() < end:
            for first in range(0, options.per_prefix, options.jobs):
                runs = [
                    _start(folder, prefix, history, asked)
                    for history in range(first, min(first + options.jobs, options.per_prefix))
                ]
                for run in runs:
                    output, _ = run.communicate()
                    rows += [line.split("\t") for line in output.splitlines()]
            prefix += 1
            places = _varying(spread(rows))
            known = {action for action, where in places.items() if len(where) >= PROVED}
            asked = [name for name in actions if name not in known]
            print(f"prefix {prefix}: {len(rows)} tries, {sorted(places)}", file=sys.stderr)
            yield rows


def _varying(found: Spread) -> dict[str, dict[str, list[int]]]:
    """Return how often which results came, where there was more than one."""
    varying = {
        action: {place: list(c.values()) for place, c in places.items() if len(c) > 1}
        for action, places in found.items()
    }
    return {action: places for action, places in sorted(varying.items()) if places}


def _write_programs(folder: Path) -> None:
    import compiler_gym

    with compiler_gym.make("llvm-v0") as env:
        for number, uri in enumerate(PROGRAMS):
            contents = env.datasets.benchmark(uri).contents
            assert contents is not None
            (folder / f"{number:02}-{uri.replace('/', ' ').split()[-1]}").write_bytes(contents)


def _start(folder: str, prefix: int, history: int, only: Sequence[str]) -> "subprocess.Popen[str]":
    command = [
        sys.executable, "-m", "scripts.repeatability", "--run", folder, "--seed", str(prefix),
        "--history", str(history),
    ]  # fmt: skip
    command += [f"--only={name}" for name in only]  # names such as -Oz look like options
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


# -- one run: a process of its own --------------------------------------------------------------


def _one_run(folder: Path, prefix_seed: int, history: int, only: Sequence[str]) -> None:
    """Print a row for every action at every program: place, action and hash."""
    from compiler_gym import _llvm

    _llvm.start()
    steady, actions = _pipelines(only)
    noise = random.Random(f"history {history} {os.getpid()}")
    programs = sorted(folder.iterdir())
    kept: list[object] = []
    order = list(actions)
    noise.shuffle(order)  # a fork inherits what the run did before
    for program in programs:
        kept = _live(kept, noise, programs, steady)
        choose = random.Random(f"prefix {prefix_seed} {program.name}")
        prefix = choose.sample(steady, choose.randint(0, LONGEST_PREFIX))
        place = f"{program.name} {prefix_seed}"
        module = _llvm.Module(program.read_bytes())
        replays = bool(history % 2)
        if not replays:
            _walk(module, prefix)
        to_walk = prefix if replays else ()
        before = _in_fork(partial(_hash, module, to_walk, ""))
        print(place, "(prefix)", before, sep="\t")
        if before == FAILED:
            continue
        for name in order:
            digest = _in_fork(partial(_hash, module, to_walk, actions[name]))
            print(place, name, digest, sep="\t")
    sys.stdout.flush()


def _pipelines(only: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the pipelines that make prefixes, and those tried by name."""
    from compiler_gym.envs.llvm.actions import ACTION_SPACES
    from compiler_gym.session import CommandlineSpec

    found: dict[str, dict[str, str]] = {}
    for space in ACTION_SPACES:
        assert isinstance(space.space, CommandlineSpec)
        found[space.name] = {item.name: item.flag for item in space.space.items}
    tried = found["PassesAll"] | found["Pipelines"]
    return list(found["Passes"].values()), {n: p for n, p in tried.items() if n in only or not only}


def _live(
    kept: list[object], noise: random.Random, programs: Sequence[Path], steady: Sequence[str]
) -> list[object]:
    """Let modules come and go, as in a worker that has served other episodes."""
    from compiler_gym import _llvm

    for _ in range(noise.randint(0, 3)):
        module = _llvm.Module(noise.choice(programs[:8]).read_bytes())
        _walk(module, noise.sample(steady, noise.randint(0, 4)))
        kept.append(module)
    noise.shuffle(kept)
    return [*kept[: noise.randint(0, 3)], bytearray(noise.randint(1, 1 << 20))]


def _walk(module: "Module", pipelines: Sequence[str]) -> None:
    for pipeline in pipelines:
        module.run(pipeline)


def _hash(module: "Module", prefix: Sequence[str], pipeline: str) -> str:
    _walk(module, prefix)
    _walk(module, [pipeline] if pipeline else ())
    return module.ir_hash().hex()


def _in_fork(work: Callable[[], str]) -> str:
    """Return what `work` returns in a fork of this process, or FAILED."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            os.write(sender, work().encode())
        finally:
            os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer or FAILED


if __name__ == "__main__":
    main()
