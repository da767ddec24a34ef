# SPDX-License-Identifier: MIT
"""Several environments as one: how they scale, what they add, and Gymnasium's own beside them.

The same random actions run in every kind of vector, in turns. What counts of each step is the
fastest of its repeats: other programs on the machine, and its host, only ever add.

Two programs: on the small one, of 1,260 instructions, a step takes half a millisecond, and the
tenth of one that the batch itself takes shows; on the large one it takes eight times that.

A vector waits for its slowest row, so rows with other actions cannot be as many times faster
as there are cores. What this barrier leaves is computed from the times of the steps one after
another: their sum over the sum of the slowest of each step. With the same actions in every row
it takes nothing away.

More programs at work than cores share the caches: what eight in turn cost the engine in one
process, against eight times one, stands beside it. Eight processes share less than eight
programs do: each has a heap and an interpreter of its own.
"""

import time

import gymnasium
import numpy as np

from benchmarks.measure import Figure
from compiler_gym import _llvm, make, make_vec
from compiler_gym.core import StepPool

ENVIRONMENT = "llvm-autophase-ic-v0"
SMALL, LARGE = "cbench-v1/sha", "cbench-v1/jpeg-d"
STEPS = 40
REPEATS = 8


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
    rates = {key: STEPS * key[1] / taken.sum() for key, taken in seconds.items()}
    alone = np.array([seconds["ours", 1], seconds["other", 1]])
    together = seconds["ours", 2].sum()
    eight = _eight_in_turn(program)

    def name(text: str) -> str:
        return f"{size} program, {text}"

    def against(text: str, ratio: float, bound: float | None = None) -> Figure:
        return Figure(name(text), ratio, "x", bound, "at least")

    return [
        Figure(name("1 environment"), rates["ours", 1], "steps/s"),
        Figure(name("2 environments"), rates["ours", 2], "steps/s"),
        Figure(name("8 environments"), rates["ours", 8], "steps/s"),
        Figure(name("AsyncVectorEnv, 2 environments"), rates["async", 2], "steps/s"),
        Figure(name("AsyncVectorEnv, 8 environments"), rates["async", 8], "steps/s"),
        against("2 against 1, equal work", rates["equal", 2] / rates["ours", 1], 1.8),
        against("2 against 1, random actions", alone.sum() / together),
        against(
            "2 against 1, random actions: what waiting leaves", alone.sum() / alone.max(0).sum()
        ),
        against("8 against 2", rates["ours", 8] / rates["ours", 2], 1.0),
        against("8 against 2: eight programs in turn in the engine, speed against one", eight),
        against("2 against AsyncVectorEnv's 2", rates["ours", 2] / rates["async", 2]),
        against("8 against AsyncVectorEnv's 8", rates["ours", 8] / rates["async", 8]),
    ]


def _seconds(program: str) -> dict[tuple[str, int], np.ndarray]:
    """Return the seconds of each step by kind and number of environments."""
    arguments = {"benchmark": program}
    ours = {n: make_vec(ENVIRONMENT, n, **arguments) for n in (1, 2, 8)}
    theirs = {
        n: gymnasium.make_vec(ENVIRONMENT, n, vectorization_mode="async", **arguments)
        for n in (2, 8)
    }
    actions = _actions()
    runs = {
        ("ours", 1): (ours[1], actions[:, [0]]),
        ("other", 1): (ours[1], actions[:, [1]]),
        ("equal", 2): (ours[2], actions[:, [0, 0]]),
        **{("ours", n): (ours[n], actions[:, :n]) for n in (2, 8)},
        **{("async", n): (theirs[n], actions[:, :n]) for n in (2, 8)},
    }
    fastest = {key: np.full(STEPS, np.inf) for key in runs}
    try:
        for _ in range(REPEATS):
            for key, (vector, chosen) in runs.items():
                np.minimum(fastest[key], _step_seconds(vector, chosen), out=fastest[key])
    finally:
        for vector in (*ours.values(), *theirs.values()):
            vector.close()
    return fastest


def _actions() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 123, size=(STEPS, 8))


def _step_seconds(vector, actions) -> list[float]:
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
    fastest = {count: np.full(STEPS, np.inf) for count in (1, 8)}
    for _ in range(REPEATS):
        for count, best in fastest.items():
            modules = _modules(contents, count)
            for number, action in enumerate(_actions()[:, 0]):
                started = time.perf_counter()
                for module in modules:
                    module.run(flags[action])
                    module.autophase()
                taken = (time.perf_counter() - started) / count
                best[number] = min(best[number], taken)
    return fastest[1].sum() / fastest[8].sum()


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
        for _ in range(REPEATS):
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
    # The engine's share runs on as many cores as there are: it is counted once at most.
    return float(np.percentile(ours, 10) - np.percentile(raw, 10)) / 8 * 1e6
