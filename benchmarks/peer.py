# SPDX-License-Identifier: MIT
"""CompilerGym 0.2.5 beside ours: episodes as a learner plays them, on the machines people have.

A learner resets, takes 15 steps with Autophase and IrInstructionCountOz, and begins again. On an
idle machine episodes of 45 steps, `multistep` and `fork` are measured too; a job is a shell loop
of nice 19. Both libraries read the same bitcode, get the same actions in the same order and take
turns. A ratio is the median of those of all rounds, with the least and the greatest. Sequences
are comparable where about as many actions changed the program on both sides. Episodes in which
the old compiler crashes do not count.

The old library needs an environment of its own: ``--peer DIR`` or ``COMPILER_GYM_PEER`` names a
folder with its interpreter as ``venv/bin/python``, with what it would download below
``site_data`` and with bitcode that both read (LLVM 10's) below ``programs``.
``python -m benchmarks.peer --help`` lists the options that measure less.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from statistics import median

from benchmarks.measure import Figure, NotSetUpError
from compiler_gym import make

VARIABLE = "COMPILER_GYM_PEER"
PROGRAMS = ("crc32", "p1k_mix", "cs_7", "cs_11")
"""Of 242, 1,100, 8,500 and 20,600 instructions."""
ROUNDS = 5
SECONDS = 10.0
"""How long episodes are played in a round."""
ACTIONS = 100
ROUND = Path(__file__).with_name("peer_round.py")

PROMISES: dict[int, dict[str, tuple[float, ...]]] = {
    0: {
        "episode of 15 steps": (2.9, 1.9, 1.5, 1.2),
        "reset after 15 steps": (2.4, 2.2, 1.8, 1.6),
        "reset after 45 steps": (1.8, 1.7, 1.7, 1.4),
        "multistep of 100 actions": (1.1, 0.9, 0.8, 0.8),
        "fork": (2.4, 2.2, 2.1, 4),
    },
    1: {"episode of 15 steps": (2.6, 1.7, 1.3)},
    2: {
        "episode of 15 steps": (2.5, 1.8),
        "episode of 15 steps, worst round": (1.5, 1.5),
        "reset after 15 steps": (1.5, 1.5),
    },
}
"""By the number of jobs: how many times as fast ours is, for the first of `PROGRAMS`."""

Round = dict[str, float]
"""By what was done: seconds, or counts."""


def measure() -> list[Figure]:
    return list(compare(find_folder()))


def compare(
    folder: Path,
    programs: Sequence[str] = PROGRAMS,
    jobs: Sequence[int] = tuple(PROMISES),
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
) -> Iterator[Figure]:
    """Yield the figures of each program beside each number of jobs as soon as they are known."""
    for count in jobs:
        measured = len(PROMISES[count]["episode of 15 steps"])
        for place, name in enumerate(PROGRAMS[:measured]):
            if name in programs:
                old: list[Round] = []
                ours: list[Round] = []
                with _other_jobs(count):
                    for _ in range(rounds):
                        old.append(run_round(folder, name, seconds, is_idle=not count, old=True))
                        ours.append(run_round(folder, name, seconds, is_idle=not count))
                yield from _figures(count, place, old, ours)


def find_folder() -> Path:
    """Return the folder with CompilerGym 0.2.5; raise `NotSetUpError` if there is none."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise NotSetUpError(
            f"CompilerGym 0.2.5 is not set up: name its folder with --peer DIR or {VARIABLE}"
        )
    folder = Path(named).absolute()
    if not (folder / "venv/bin/python").exists():
        raise NotSetUpError(f"CompilerGym 0.2.5 is not set up: no {folder}/venv/bin/python")
    return folder


@cache
def _draw_actions() -> list[str]:
    """Return names of the old action space, drawn with a fixed seed."""
    with make("llvm-v0", action_space="CompilerGymV0") as env:
        names = list(env.action_space.names)
    return random.Random(0).choices(names, k=ACTIONS)


def run_round(
    folder: Path, program: str, seconds: float, *, is_idle: bool, old: bool = False
) -> Round:
    """Measure the program with the library in `folder`, or with ours, in a process of its own."""
    python = folder / "venv/bin/python" if old else Path(sys.executable)
    variables = _old_variables(folder) if old else {"PYTHONPATH": str(ROUND.parents[1])}
    asked = {"program": str(folder / "programs" / f"{program}.bc10"), "actions": _draw_actions()}
    done = subprocess.run(
        [python, ROUND], input=json.dumps({**asked, "seconds": seconds, "is_idle": is_idle}),
        capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, **variables},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"a round with {python} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])  # the old library prints, too


def _old_variables(folder: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": "",
        "COMPILER_GYM_SITE_DATA": str(folder / "site_data"),
        "COMPILER_GYM_CACHE": str(folder / "cache"),
        "COMPILER_GYM_TRANSIENT_CACHE": str(folder / "cache"),
        "COMPILER_GYM_LOGS": str(folder / "logs"),
    }


@contextmanager
def _other_jobs(count: int) -> Iterator[None]:
    command = ["nice", "-n", "19", "sh", "-c", "while :; do :; done"]
    jobs = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for job in jobs:
            job.kill()
            job.wait()


def _figures(jobs: int, place: int, old: list[Round], ours: list[Round]) -> Iterator[Figure]:
    machine = ("idle machine", "one job", "two jobs")[jobs]
    label = f"{machine}, {int(ours[0]['instructions']):,} instructions"
    for kind, bounds in PROMISES[jobs].items():
        known, _, is_worst = kind.partition(", ")
        ratios = [one[known] / other[known] for one, other in zip(old, ours, strict=True)]
        if is_worst:
            yield Figure(f"{label}: {kind}", min(ratios), "x", bounds[place], "at least")
            continue
        between = (min(ratios), max(ratios))
        times = " against ".join(f"{median(r[known] for r in s) * 1e3:.3g}" for s in (old, ours))
        name = f"{label}: {kind} ({times} ms)"
        yield Figure(name, median(ratios), "x", bounds[place], "at least", between)
    counts = " and ".join(str(int(side[0]["changed"])) for side in (old, ours))
    name = f"{label}: actions that changed it ({counts})"
    yield Figure(name, ours[0]["changed"] / old[0]["changed"], "x")


def main() -> None:
    """Measure what the command line names, and print each figure as soon as it is known."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peer", description=main.__doc__)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    parser.add_argument("--jobs", nargs="+", type=int, choices=PROMISES, default=[*PROMISES])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of episodes in a round")
    for figure in compare(find_folder(), **vars(parser.parse_args())):
        kept = {None: "", True: "yes", False: "NO"}[figure.holds]
        print(f"{figure.name:85}{figure.measured:22}{figure.promise:9}{kept}", flush=True)


if __name__ == "__main__":
    main()
