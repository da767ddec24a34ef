# SPDX-License-Identifier: MIT
"""Whose word can be taken? Hash all of the IR after every visit of a pass, rather than ask LLVM.

    python -m scripts.trust --minutes 20 --output found.json

A pass says after each visit whether it preserved all analyses. Random actions of ``PassesAll``
run on the bundled programs and on single functions of theirs, each episode in a fork, which may
crash or hang. The answer says for every class of passes how often it said which, and whether the
hash was then another; and where the engine's own answer was wrong. The lists in
`native/src/llvm/trusted_passes.cpp` were made from it: what was caught once is caught, and what
was never caught is not proved.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Findings", "main"]

PROGRAMS = Path(__file__).parents[1] / "programs"
LARGEST = 60_000
"""Bytes of bitcode: every visit hashes all of it."""
STEPS = 150
SECONDS = 60
"""Of one episode."""
RISKY_SECONDS = 3


@dataclass(slots=True)
class Findings:
    """What passes said, and what was true."""

    episodes: int = 0
    visits: Counter[tuple[str, bool, bool]] = field(default_factory=Counter[tuple[str, bool, bool]])
    """By class: whether it said to have preserved everything, and whether the hash differed."""
    wrong: dict[str, list[object]] = field(default_factory=dict[str, list[object]])
    """The first wrong answer of the engine to each pipeline: program, answer, truth and whether
    what it kept holds."""

    def table(self) -> dict[str, list[int]]:
        """Return for each class the visits that vouched and held, vouched and lied, claimed
        without a change, and claimed one."""
        rows: dict[str, list[int]] = {}
        for (name, vouched, differed), count in sorted(self.visits.items()):
            row = rows.setdefault(name, [0, 0, 0, 0])
            row[(0 if vouched else 2) + differed] += count
        return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure for as long as the command line says and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    found, end = Findings(), time.monotonic() + 60 * options.minutes
    programs = sorted(p for p in PROGRAMS.glob("*/*.bc") if p.stat().st_size < LARGEST)
    while time.monotonic() < end:
        _episode(found, random.Random(f"{options.seed} {found.episodes}"), programs, options.steps)
        found.episodes += 1
    document = {"episodes": found.episodes, "passes": found.table(), "wrong": found.wrong}
    text = json.dumps(document, indent=1) + "\n"
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text, encoding="utf-8")


def _episode(found: Findings, rng: random.Random, programs: Sequence[Path], steps: int) -> None:
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            os.write(sender, json.dumps(_visits(rng, rng.choice(programs), steps)).encode())
        finally:
            os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if answer:
        visits, wrong = json.loads(answer)
        for name, vouched, differed, count in visits:
            found.visits[name, vouched, differed] += count
        found.wrong = wrong | found.wrong


def _visits(
    rng: random.Random, program: Path, steps: int
) -> tuple[list[list[object]], dict[str, list[object]]]:
    """Walk one episode until its time is over; return what passes said and wrong answers."""
    from compiler_gym import _llvm

    data = program.read_bytes()
    if rng.random() < 0.5:
        data = rng.choice(_llvm.split_functions(data))[1]
    module = _llvm.Module(data)
    module.set_goal(rng.choice(["size", "speed"]))
    visits: Counter[tuple[str, bool, bool]] = Counter()
    wrong: dict[str, list[object]] = {}
    end = time.monotonic() + SECONDS * 0.75
    pipelines, risky = _pipelines()
    for _ in range(steps):
        pipeline = rng.choice(pipelines)
        if time.monotonic() > end:
            break
        if pipeline in risky and not _survives(module, pipeline):
            continue
        changed, differs, holds, met = module.run_watched(pipeline)
        visits.update(met)
        if changed != differs or not holds:
            wrong.setdefault(pipeline, [program.name, changed, differs, holds])
    return [[*visit, count] for visit, count in visits.items()], wrong


def _survives(module: object, pipeline: str) -> bool:
    child = os.fork()
    if child == 0:
        signal.alarm(RISKY_SECONDS)
        module.run(pipeline)  # type: ignore[attr-defined]
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _pipelines() -> tuple[list[str], set[str]]:
    """Return the pipelines of ``PassesAll``, and those of them that ``Passes`` leaves out."""
    from compiler_gym.envs.llvm.actions import ACTION_SPACES
    from compiler_gym.session import CommandlineSpec

    found: dict[str, list[str]] = {}
    for space in ACTION_SPACES:
        assert isinstance(space.space, CommandlineSpec)
        found[space.name] = [item.flag for item in space.space.items]
    return found["PassesAll"], set(found["PassesAll"]) - set(found["Passes"])


if __name__ == "__main__":
    main()
