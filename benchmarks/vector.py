# SPDX-License-Identifier: MIT
"""Several environments as one: how they scale, what they add, and Gymnasium's own beside them.

The same random actions run in every kind of vector, in turns, and the fastest run of each
counts: other programs on the machine only ever add. The price of a step is measured with a
pass that does next to nothing.

A vector waits for its slowest row, so rows with other actions cannot be as many times
faster as there are cores. What this barrier leaves is computed from the times of the
steps one after another: their sum over the sum of the slowest of each step. With the
same actions in every row it takes nothing away.
"""

import time

import gymnasium
import numpy as np

from benchmarks.measure import Figure
from compiler_gym import _llvm, make, make_vec
from compiler_gym.core import StepPool

ENVIRONMENT = "llvm-autophase-ic-v0"
ARGUMENTS = {"benchmark": "cbench-v1/sha", "max_episode_steps": 40}
STEPS = 160
REPEATS = 5


def measure() -> list[Figure]:
    rates = _rates()
    apart = _apart(2)
    sums, slowest = apart.sum(), apart.max(axis=1).sum()
    together = 2 * STEPS / rates["ours", 2]
    above = _above_the_engine()
    return [
        Figure("1 environment", rates["ours", 1], "steps/s"),
        Figure("2 environments", rates["ours", 2], "steps/s"),
        Figure("8 environments", rates["ours", 8], "steps/s"),
        Figure("8 environments, whichever is done first", _pool_rate(8), "steps/s"),
        Figure("AsyncVectorEnv, 2 environments", rates["async", 2], "steps/s"),
        Figure("AsyncVectorEnv, 8 environments", rates["async", 8], "steps/s"),
        Figure(
            "2 against 1, equal work", rates["equal", 2] / rates["ours", 1], "x", 1.8, "at least"
        ),
        Figure("2 against 1, random actions", sums / together, "x"),
        Figure("2 against 1, random actions: what waiting leaves", sums / slowest, "x"),
        Figure("8 against 2", rates["ours", 8] / rates["ours", 2], "x", 1.0, "at least"),
        Figure("8 against AsyncVectorEnv's 8", rates["ours", 8] / rates["async", 8], "x"),
        Figure("a step above the engine, 8 environments", above, "µs", 30),
    ]


def _rates() -> dict[tuple[str, int], float]:
    """Return steps per second by kind and number of environments."""
    vectors = {("ours", n): make_vec(ENVIRONMENT, n, **ARGUMENTS) for n in (1, 2, 8)} | {
        ("async", n): gymnasium.make_vec(ENVIRONMENT, n, vectorization_mode="async", **ARGUMENTS)
        for n in (2, 8)
    }
    vectors["equal", 2] = vectors["ours", 2]
    actions = _actions()
    fastest = dict.fromkeys(vectors, float("inf"))
    try:
        for _ in range(REPEATS):
            for key, vector in vectors.items():
                chosen = actions[:, [0] * key[1]] if key[0] == "equal" else actions[:, : key[1]]
                fastest[key] = min(fastest[key], _seconds(vector, chosen))
    finally:
        for vector in vectors.values():
            vector.close()
    return {key: STEPS * key[1] / seconds for key, seconds in fastest.items()}


def _actions():
    return np.random.default_rng(0).integers(0, 123, size=(STEPS, 8))


def _apart(rows: int):
    """Return the seconds of every step of some rows, alone: the fastest of some runs."""
    fastest = np.full((STEPS, rows), np.inf)
    with make_vec(ENVIRONMENT, 1, **ARGUMENTS) as vector:
        for _ in range(REPEATS):
            for row in range(rows):
                vector.reset(seed=0)
                for number, action in enumerate(_actions()[:, row]):
                    started = time.perf_counter()
                    vector.step([action])
                    taken = time.perf_counter() - started
                    fastest[number, row] = min(fastest[number, row], taken)
    return fastest


def _seconds(vector, actions) -> float:
    vector.reset(seed=0)
    started = time.perf_counter()
    for row in actions:
        vector.step(row)
    return time.perf_counter() - started


def _pool_rate(count: int) -> float:
    generator = np.random.default_rng(0)
    envs = [make(ENVIRONMENT, benchmark=ARGUMENTS["benchmark"]) for _ in range(count)]
    try:
        rates = []
        for _ in range(REPEATS):
            for env in envs:
                env.reset()
            left = STEPS * 2
            started = time.perf_counter()
            with StepPool() as pool:
                for env in envs:
                    pool.submit(env, [int(generator.integers(0, 123))])
                for env, result in pool.as_completed():
                    left -= 1
                    if result[3] or len(env.actions) >= ARGUMENTS["max_episode_steps"]:
                        env.reset()
                    if left >= count:
                        pool.submit(env, [int(generator.integers(0, 123))])
            rates.append(STEPS * 2 / (time.perf_counter() - started))
        return max(rates)
    finally:
        for env in envs:
            env.close()


def _above_the_engine() -> float:
    """Return the time of a step of 8 that costs the engine next to nothing, less that, in µs."""
    with make_vec(ENVIRONMENT, 8, benchmark="cbench-v1/crc32") as vector:
        space = vector.envs[0].action_space
        contents = vector.envs[0].datasets.benchmark("cbench-v1/crc32").contents
        quick = space["dce"]
        module = _llvm.Module(contents)
        module.set_goal("size")
        raw, ours = [], []
        vector.reset()
        for _ in range(600):
            started = time.perf_counter()
            for _ in range(8):
                module.run(space.flags[quick])
                module.autophase()
            raw.append(time.perf_counter() - started)
            started = time.perf_counter()
            vector.step([quick] * 8)
            ours.append(time.perf_counter() - started)
    # The engine's share runs on as many cores as there are: it is counted once at most.
    return float(np.percentile(ours, 10) - np.percentile(raw, 10)) / 8 * 1e6
