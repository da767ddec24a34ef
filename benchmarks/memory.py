# SPDX-License-Identifier: MIT
"""What workers weigh, and whether anything grows or leaks over many random steps.

The weight of a process is its proportional set size: what it shares with others counts once
among all of them. To find growth, random episodes over all bundled programs are interrupted
again and again by a reset to one and the same program, where everything is weighed: the worker,
the client, and the client with all its descendants. There only what is no file's counts, because
files are shared with whatever else runs. ``python -m benchmarks.memory STEPS LOG`` does as many
steps as one likes.
"""

import gc
import json
import os
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Figure
from compiler_gym import make, make_vec
from compiler_gym.core import CompilerEnv
from compiler_gym.service.limits import list_children
from compiler_gym.testing import worker_pid

STEPS = 20_000
EPISODE = 50
WEIGHINGS = 40
ROWS = 64
LARGE = "cbench-v1/tiffmedian"
REFERENCE = "cbench-v1/sha"
"""A program of about a thousand instructions."""
SPACES: dict[str, Any] = {"reward_space": "IrInstructionCountOz", "observation_space": "Autophase"}


def measure() -> list[Figure]:
    return [*_vector(), *soak(STEPS)]


def _vector() -> list[Figure]:
    """Return what a vector of open episodes of one program weighs, with all its processes."""
    generator, weights = random.Random(0), list[float]()
    vector = make_vec("llvm-v0", ROWS, benchmark=LARGE, **SPACES)
    try:
        for resets in (1, 2):
            for _ in range(resets):  # since the second, workers are copies of one
                vector.reset(seed=0)
            for _ in range(15):
                actions = vector.envs[0].action_space.n
                vector.step([generator.randrange(actions) for _ in range(ROWS)])
            weights.append(measure_memory(os.getpid()))
    finally:
        vector.close()
    of = f"memory (PSS) of {ROWS} episodes of 14,000 instructions in a vector, after 15 steps"
    return [
        Figure(of, weights[0], "MB", 1150),
        Figure(f"{of} of a later episode", weights[1], "MB", 1050),
    ]


@dataclass(slots=True)
class _Weights:
    """What was weighed, in the order of time; megabytes, but for counts."""

    series: dict[str, list[float]] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)

    def weigh(self, env: CompilerEnv, step: int) -> None:
        gc.collect()
        family = [os.getpid(), *_descendants(os.getpid())]
        found = {
            "the worker": _weight(worker_pid(env), "Pss_Anon"),
            "the client": _weight(os.getpid(), "Pss_Anon"),
            "the client and all its processes": sum(_weight(pid, "Pss_Anon") for pid in family),
            "processes": float(len(family)),
            "open files of the client": float(len(os.listdir("/proc/self/fd"))),
        }
        self.steps.append(step)
        for name, value in found.items():
            self.series.setdefault(name, []).append(value)

    def last(self) -> dict[str, float]:
        return {"step": self.steps[-1]} | {name: found[-1] for name, found in self.series.items()}

    def figures(self) -> list[Figure]:
        made: list[Figure] = []
        for name in ("the worker", "the client", "the client and all its processes"):
            values = self.series[name]
            made += [
                Figure(f"memory of {name} at the end", values[-1], "MB"),
                Figure(f"growth of {name} per 1,000 steps", 1000 * self._slope(values), "MB", 0.02),
            ]
        for name in ("processes", "open files of the client"):
            values = self.series[name]
            made.append(
                Figure(f"{name} at the end, above the start", values[-1] - values[0], "", 0)
            )
        return made

    def _slope(self, values: list[float]) -> float:
        """Return the median of all slopes between two weighings of the second half.

        In the first a worker meets what takes most memory, of which it keeps some.
        """
        first = len(values) // 2
        steps, known = np.array(self.steps[first:], float), np.array(values[first:])
        rises, runs = known[:, None] - known, steps[:, None] - steps
        later = runs > 0
        return float(np.median(rises[later] / runs[later]))


def soak(steps: int, log: Path | None = None) -> list[Figure]:
    """Return how memory changes over `steps` random steps in one process.

    Every weighing is a line of JSON in `log`.
    """
    generator, weights, failures = random.Random(0), _Weights(), 0
    with make("llvm-v0", **SPACES) as env:
        programs = list(env.datasets["benchmark://cbench-v1"].benchmark_uris())
        for uri in programs:  # what is cached of a program is there before the first weighing
            env.reset(benchmark=uri)
        every = max(EPISODE, steps // WEIGHINGS // EPISODE * EPISODE)
        for step in range(steps):
            if step % every == 0:
                env.reset(benchmark=REFERENCE)
                weights.weigh(env, step)
                if log is not None:
                    with log.open("a") as file:
                        file.write(json.dumps(weights.last()) + "\n")
            if step % EPISODE == 0:
                env.reset(benchmark=generator.choice(programs))
            if env.step(generator.randrange(env.action_space.n))[3]:
                failures += 1
                env.reset()
        env.reset(benchmark=REFERENCE)
        weights.weigh(env, steps)
    gc.collect()
    return [
        *weights.figures(),
        Figure(f"episodes that a pass ended, of {steps // EPISODE:,}", failures, ""),
    ]


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for child in list_children(pid):
        found += [child, *_descendants(child)]
    return found


def measure_memory(pid: int) -> float:
    """Return the megabytes (PSS) of process `pid` and all that it has started."""
    return sum(map(_pss, [pid, *_descendants(pid)]))


def _pss(pid: int | None) -> float:
    return _weight(pid, "Pss")


def _weight(pid: int | None, kind: str) -> float:
    """Return the megabytes of process `pid`; 0 if it has just ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{kind}:")), 0.0)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
    for figure in soak(count, Path(sys.argv[2]) if len(sys.argv) > 2 else None):
        print(f"{figure.name}: {figure.measured} {figure.promise}")
