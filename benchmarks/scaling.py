# SPDX-License-Identifier: MIT
"""Two environments on two cores, what a worker weighs, and what each row costs in which process.

What a row costs is processor time, the client's and its workers' apart: the client is one
thread, so it bounds how many cores a vector can keep busy.
"""

import json
import multiprocessing
import random
import time
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.measure import Figure
from compiler_gym import make, make_vec
from compiler_gym.testing import worker_pid

SECONDS = 4.0
WORKERS = 8
ROWS = (
    ("cbench-v1/crc32", 8),
    ("cbench-v1/sha", 8),
    ("cbench-v1/sha", 32),
    ("cbench-v1/sha", 64),
    ("cbench-v1/jpeg-d", 8),
)
ROW_STEPS, ROW_REPEATS = 40, 4


def measure() -> list[Figure]:
    ratios = []
    for _ in range(3):
        alone = _together(1)
        pair = _together(2)
        ratios.append(pair / alone)
    return [
        Figure("two processes against one, steps per second", median(ratios), "x", 1.8, "at least"),
        Figure(f"memory (PSS) of each of {WORKERS} workers", _worker_megabytes(), "MB", 15),
        *(figure for program, rows in ROWS for figure in _per_row(program, rows)),
    ]


def _per_row(program: str, rows: int) -> list[Figure]:
    """Return the least processor time of a step of one of `rows` rows of random actions."""
    actions = np.random.default_rng(0).integers(0, 123, size=(ROW_STEPS, rows))
    client, workers = float("inf"), float("inf")
    with make_vec("llvm-autophase-ic-v0", rows, benchmark=program) as vector:
        for _ in range(ROW_REPEATS):
            vector.reset(seed=0)
            pids = [worker_pid(env) for env in vector.envs]
            ours, theirs = -time.process_time(), -sum(map(_computed, pids))
            for row in actions:
                vector.step(row)
            ours, theirs = ours + time.process_time(), theirs + sum(map(_computed, pids))
            client, workers = min(client, ours), min(workers, theirs)
    label = f"{program}, {rows} rows: processor time of a row's step"
    return [
        Figure(f"{label}, client", client / actions.size * 1e6, "µs"),
        Figure(f"{label}, worker", workers / actions.size * 1e6, "µs"),
    ]


def _computed(pid: int | None) -> float:
    """Return the seconds that process `pid` has computed."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


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
