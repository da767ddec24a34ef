# SPDX-License-Identifier: MIT
"""Several environments as one: how they scale, what they add, and Gymnasium's own beside them.

Eight columns of random actions, the same for every kind of vector: one environment runs them
one after the other, two run them in pairs, eight run all at once. So all do the same work, and
kinds take turns at each. Every ratio is the median of those of the repeats: a virtual machine
has slow minutes, and what is compared must have been measured in the same one.

Two programs: on the small one, of 1,260 instructions, a step takes half a millisecond, and the
tenth of one that the batch itself takes shows; on the large one it takes ten times that.

A vector waits for its slowest row, so rows with other actions cannot be as many times faster
as there are cores. What this leaves to two is computed from the times of the steps one after
another: their sum over the sum of the slower of each step. With the same actions in both rows
it takes nothing away but noise: on a machine whose cores are slowed down one by one, the slower
of two equal steps is slower than one, which the fastest of the repeats of each step leaves out.

More programs at work than cores share the caches: what eight in turn cost the engine in one
process, against eight times one, stands beside it. Eight processes share less than eight
programs do: each has a heap and an interpreter of its own.
"""

import os
import time
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Figure
from compiler_gym import _llvm, make, make_vec
from compiler_gym.vector import StepPool

ENVIRONMENT = "llvm-autophase-ic-v0"
SMALL, LARGE = "cbench-v1/sha", "cbench-v1/jpeg-d"
STEPS, COLUMNS = 40, 8
REPEATS = {SMALL: 24, LARGE: 8}
ENGINE_REPEATS = 8

Seconds = dict[str, NDArray[np.float64]]
"""Seconds by kind: [repeats, runs, steps]. Every kind's runs do all columns."""


def measure() -> list[Figure]:
    above = _above_the_engine()
    return [
        *_figures(SMALL, "small"),
        *_figures(LARGE, "large"),
        Figure("small program, 8 environments, whichever is done first", _pool_rate(8), "steps/s"),
        Figure("a step above the engine, 8 environments", above, "µs", 30),
    ]


def _figures(program: str, size: str) -> list[Figure]:
    seconds = _seconds(program)
    whole = {kind: taken.sum(axis=(1, 2)) for kind, taken in seconds.items()}
    fastest = {kind: taken.min(axis=0).sum() for kind, taken in seconds.items()}
    alone = seconds["1"].min(axis=0).reshape(COLUMNS // 2, 2, STEPS)
    eight = _eight_in_turn(program)

    def rate(text: str, kind: str) -> Figure:
        per_second = COLUMNS * STEPS / float(np.median(whole[kind]))
        return Figure(f"{size} program, {text}", per_second, "steps/s")

    def ratio(text: str, value: float, bound: float | None = None) -> Figure:
        return Figure(f"{size} program, {text}", float(value), "x", bound, "at least")

    def against(text: str, kind: str, other: str, bound: float | None = None) -> Figure:
        return ratio(text, float(np.median(whole[other] / whole[kind])), bound)

    return [
        rate("1 environment", "1"),
        rate("2 environments", "2"),
        rate("8 environments", "8"),
        rate("AsyncVectorEnv, 2 environments", "async 2"),
        rate("AsyncVectorEnv, 8 environments", "async 8"),
        ratio("2 against 1, equal work", 2 * fastest["1"] / fastest["equal"], 1.8),
        ratio(
            "2 against 1, equal work, noise included",
            2 * np.median(whole["1"] / whole["equal"]),
        ),
        against("2 against 1, random actions", "2", "1"),
        ratio("2 against 1, random actions: what waiting leaves", alone.sum() / alone.max(1).sum()),
        against("8 against 2", "8", "2", 1.0),
        ratio("8 against 2: eight programs in turn in the engine, speed against one", eight),
        against("2 against AsyncVectorEnv's 2", "2", "async 2"),
        against("8 against AsyncVectorEnv's 8", "8", "async 8"),
    ]


def _seconds(program: str) -> Seconds:
    """Return the seconds of every step, by kind."""
    arguments: dict[str, Any] = {"benchmark": program}
    ours = {n: make_vec(ENVIRONMENT, n, **arguments) for n in (1, 2, 8)}
    theirs = {
        n: gymnasium.make_vec(ENVIRONMENT, n, vectorization_mode="async", **arguments)
        for n in (2, 8)
    }
    actions = _actions()
    pairs = [actions[:, first : first + 2] for first in range(0, COLUMNS, 2)]
    columns = [actions[:, [number]] for number in range(COLUMNS)]
    runs = {
        "1": (ours[1], columns),
        "equal": (ours[2], [column.repeat(2, axis=1) for column in columns]),
        "2": (ours[2], pairs),
        "8": (ours[8], [actions]),
        "async 2": (theirs[2], pairs),
        "async 8": (theirs[8], [actions]),
    }
    seconds: dict[str, list[list[list[float]]]] = {kind: [] for kind in runs}
    try:
        for _ in range(REPEATS[program]):
            for kind, (vector, chosen) in runs.items():
                seconds[kind].append([_step_seconds(vector, block) for block in chosen])
    finally:
        for vector in (*ours.values(), *theirs.values()):
            vector.close()
    return {kind: np.array(taken) for kind, taken in seconds.items()}


def _actions() -> NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, 123, size=(STEPS, COLUMNS))


def _step_seconds(vector: gymnasium.vector.VectorEnv, actions: NDArray[np.int64]) -> list[float]:
    vector.reset(seed=0)
    seconds = []
    for row in actions:
        started = time.perf_counter()
        vector.step(row)
        seconds.append(time.perf_counter() - started)
    return seconds


def _eight_in_turn(program: str) -> float:
    """Return the engine's speed on eight programs in turn, over that on one."""
    with make(ENVIRONMENT, benchmark=program) as env:
        contents = env.datasets.benchmark(program).contents
        flags = env.action_space.flags
    fastest = {count: np.full(STEPS, np.inf) for count in (1, COLUMNS)}
    for _ in range(ENGINE_REPEATS):
        for count, best in fastest.items():
            modules = _modules(contents, count)
            for number, action in enumerate(_actions()[:, 0]):
                started = time.perf_counter()
                for module in modules:
                    module.run(flags[action])
                    module.autophase()
                taken = (time.perf_counter() - started) / count
                best[number] = min(best[number], taken)
    return fastest[1].sum() / fastest[COLUMNS].sum()


def _modules(contents: bytes, count: int) -> list[_llvm.Module]:
    modules = [_llvm.Module(contents) for _ in range(count)]
    for module in modules:
        module.set_goal("size")
    return modules


def _pool_rate(count: int) -> float:
    generator = np.random.default_rng(0)
    envs = [make(ENVIRONMENT, benchmark=SMALL) for _ in range(count)]
    try:
        rates = []
        for _ in range(ENGINE_REPEATS):
            for env in envs:
                env.reset()
            left = STEPS * 8
            started = time.perf_counter()
            with StepPool() as pool:
                for env in envs:
                    pool.submit(env, [int(generator.integers(0, 123))])
                for env, result in pool.as_completed():
                    left -= 1
                    if result[3] or len(env.actions) >= STEPS:
                        env.reset()
                    if left >= count:
                        pool.submit(env, [int(generator.integers(0, 123))])
            rates.append(STEPS * 8 / (time.perf_counter() - started))
        return float(np.median(rates))
    finally:
        for env in envs:
            env.close()


def _above_the_engine() -> float:
    """Return the µs of a step of 8 that costs the engine little, less its share on all cores."""
    with make_vec(ENVIRONMENT, 8, benchmark="cbench-v1/crc32") as vector:
        space = vector.envs[0].action_space
        contents = vector.envs[0].datasets.benchmark("cbench-v1/crc32").contents
        quick = space["dce"]
        modules = _modules(contents, 8)
        raw, ours = [], []
        vector.reset()
        for _ in range(600):
            started = time.perf_counter()
            for module in modules:
                module.run(space.flags[quick])
                module.autophase()
                module.instruction_count()
            raw.append(time.perf_counter() - started)
            started = time.perf_counter()
            vector.step([quick] * 8)
            ours.append(time.perf_counter() - started)
    cores = len(os.sched_getaffinity(0))
    return float(np.percentile(ours, 10) - np.percentile(raw, 10) / min(cores, 8)) / 8 * 1e6
