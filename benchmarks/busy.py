# SPDX-License-Identifier: MIT
"""What a learner waits for next to other jobs, as machines usually are.

A small step runs a pass that takes some tens of microseconds on a small program; resets follow
episodes of 15 and 45 steps. Each job is a shell loop that needs a core. If CompilerGym 0.2.5 is
set up (see `benchmarks.peer`), it is measured in turns with ours, and the ratio is given, too.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import peer
from benchmarks.measure import Figure, NotSetUpError
from compiler_gym.datasets import find_bundled_folder

ROUNDS = 2
SECONDS = 1.0
"""How long each thing is repeated in a round."""
CORES = os.cpu_count() or 1
JOBS: dict[str, tuple[int, ...]] = {
    "alone": (),
    "next to one job of nice 19": (19,),
    f"next to {CORES} jobs of nice 19": (19,) * CORES,
    "next to one normal job": (0,),
    f"next to {CORES} normal jobs": (0,) * CORES,
}


def measure() -> list[Figure]:
    try:
        folder = peer.find_folder()
    except NotSetUpError:
        folder = None
    programs = peer.list_programs(folder)[1:6:2] if folder else _list_bundled()
    return [
        figure
        for name, niceness in JOBS.items()
        for figure in _compare(name, niceness, programs, folder)
    ]


def _list_bundled() -> list[Path]:
    names = ("crc32", "sha", "jpeg-c")
    return [find_bundled_folder() / name / f"{name}.bc" for name in names]


def _compare(
    name: str, niceness: tuple[int, ...], programs: list[Path], folder: Path | None
) -> Iterator[Figure]:
    ours: peer.Measured = {}
    old: peer.Measured = {}
    with _other_jobs(niceness):
        for _ in range(ROUNDS):
            peer.keep_best(ours, peer.run_round(programs, SECONDS, as_learner=True))
            if folder:
                peer.keep_best(old, peer.run_round(programs, SECONDS, folder, as_learner=True))
    for path, times in sorted(ours.items(), key=lambda pair: pair[1]["instructions"]):
        size = f"{int(times.pop('instructions')):,} instructions"
        for kind, seconds in times.items():
            label = f"{name}: {kind}, {size}"
            if folder:
                both = f"{old[path][kind] * 1e3:.3g} ms, 0.2.5, against {seconds * 1e3:.3g} ms"
                ratio = old[path][kind] / seconds
                yield Figure(f"{label}: {both}", ratio, "x", 1.0, "at least")
            else:
                yield Figure(label, seconds * 1e3, "ms")


@contextmanager
def _other_jobs(niceness: tuple[int, ...]) -> Iterator[None]:
    jobs = [
        subprocess.Popen(["nice", "-n", str(number), "sh", "-c", "while :; do :; done"])
        for number in niceness
    ]
    try:
        yield
    finally:
        for job in jobs:
            job.kill()
            job.wait()
