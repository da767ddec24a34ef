# SPDX-License-Identifier: MIT
"""Two environments on two cores, and what a worker weighs."""

import json
import multiprocessing
import random
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Figure
from compiler_gym import make
from compiler_gym.testing import worker_pid

SECONDS = 4.0
WORKERS = 8


def measure() -> list[Figure]:
    ratios = []
    for _ in range(3):
        alone = _together(1)
        pair = _together(2)
        ratios.append(pair / alone)
    return [
        Figure("two processes against one, steps per second", median(ratios), "x", 1.8, "at least"),
        Figure(f"memory (PSS) of each of {WORKERS} workers", _worker_megabytes(), "MB", 15),
    ]


def _together(count: int) -> float:
    """Return the steps per second of `count` processes with one environment each."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(count)
    with context.Pool(count, initializer=_prepare, initargs=(barrier,)) as pool:
        return sum(pool.map(_steps_per_second, range(count), chunksize=1))


_barrier = None


def _prepare(barrier) -> None:
    global _barrier
    _barrier = barrier


def _steps_per_second(seed: int) -> float:
    generator = random.Random(seed)
    with make("llvm-v0", benchmark="cbench-v1/sha", observation_space="Autophase") as env:
        env.reset()
        assert _barrier is not None
        _barrier.wait()
        started, steps = time.perf_counter(), 0
        while time.perf_counter() - started < SECONDS:
            if steps % 50 == 0:
                env.reset()
            env.step(generator.randrange(env.action_space.n))
            steps += 1
        return steps / (time.perf_counter() - started)


def _worker_megabytes() -> float:
    envs = [make("llvm-v0", benchmark="cbench-v1/sha") for _ in range(WORKERS)]
    try:
        for env in envs:
            env.reset()
            for action in range(20):
                env.step(action)
        sizes = [_pss(worker_pid(env)) for env in envs]
    finally:
        for env in envs:
            env.close()
    return median(sizes)


def _pss(pid: int | None) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(json.dumps({"pid": pid, "expected": "a Pss line"}))
