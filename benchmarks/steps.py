# SPDX-License-Identifier: MIT
"""What a step costs beyond the pass itself.

The same actions run in the raw engine, in a worker and in process, one after
another, so that the difference of their times is the price of the environment.
"""

import random
import time
from statistics import median

from compiler_gym import _llvm, make
from compiler_gym.core import CompilerEnv

from benchmarks.measure import Figure, programs_of_size

STEPS_PER_EPISODE = 40
EPISODES = 25


def measure() -> list[Figure]:
    uri = min(programs_of_size(500, 2000), key=len)
    options = {"benchmark": uri}
    seen = {"observation_space": "Autophase", "reward_space": "IrInstructionCountOz"}
    with (
        make("llvm-v0", **options) as bare,
        make("llvm-v0", **options, **seen) as full,
        make("llvm-v0", **options, isolation="in-process") as local,
    ):
        times = _interleave({"bare": bare, "full": full, "local": local}, uri)
    return [
        Figure("the pass alone, raw engine", median(times["raw"]) * 1e6, "µs"),
        Figure("step() above it, worker, no observation", _above(times, "bare"), "µs", 40),
        Figure(
            "step() above it, worker, Autophase + IrInstructionCountOz",
            _above(times, "full"),
            "µs",
            60,
        ),
        Figure("step() above it, in process, no observation", _above(times, "local"), "µs", 3),
    ]


def _interleave(envs: dict[str, CompilerEnv], uri: str) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"raw": [], **{name: [] for name in envs}}
    generator = random.Random(0)
    contents = next(iter(envs.values())).datasets.benchmark(uri).contents
    for _ in range(EPISODES):
        module = _llvm.Module(contents, uri)
        module.set_goal("size")
        for env in envs.values():
            env.reset()
        space = next(iter(envs.values())).action_space
        for _ in range(STEPS_PER_EPISODE):
            action = generator.randrange(space.n)
            pipeline = space.flags[action]
            started = time.perf_counter()
            module.run(pipeline)
            times["raw"].append(time.perf_counter() - started)
            for name, env in envs.items():
                started = time.perf_counter()
                _, _, _, truncated, info = env.step(action)
                times[name].append(time.perf_counter() - started)
                assert not truncated, info
    return times


def _above(times: dict[str, list[float]], name: str) -> float:
    pairs = zip(times[name], times["raw"], strict=True)
    return median(ours - raw for ours, raw in pairs) * 1e6
