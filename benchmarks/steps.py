# SPDX-License-Identifier: MIT
"""What a step costs beyond the pass itself.

The same episodes run in the raw engine, in a worker and in process. Each step is
timed in several runs of its episode and its fastest time kept, because other
programs on the machine only ever add; the median of the differences is the price
of the environment.
"""

import random
import time
from statistics import median

from benchmarks.measure import Figure, programs_of_size
from compiler_gym import _llvm, make
from compiler_gym.core import CompilerEnv

STEPS_PER_EPISODE = 40
EPISODES = 12
REPEATS = 5


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
    first = next(iter(envs.values()))
    contents = first.datasets.benchmark(uri).contents
    for _ in range(EPISODES):
        actions = [generator.randrange(first.action_space.n) for _ in range(STEPS_PER_EPISODE)]
        pipelines = [first.action_space.flags[action] for action in actions]
        fastest = {name: [float("inf")] * len(actions) for name in times}
        for _ in range(REPEATS):
            _keep(fastest["raw"], _raw_episode(contents, pipelines))
            for name, env in envs.items():
                _keep(fastest[name], _episode(env, actions))
        for name, column in fastest.items():
            times[name] += column
    return times


def _raw_episode(contents: bytes, pipelines: list[str]) -> list[float]:
    module = _llvm.Module(contents)
    module.set_goal("size")
    clock, times = time.perf_counter, []
    for pipeline in pipelines:
        started = clock()
        module.run(pipeline)
        times.append(clock() - started)
    return times


def _episode(env: CompilerEnv, actions: list[int]) -> list[float]:
    env.reset()
    clock, times = time.perf_counter, []
    for action in actions:
        started = clock()
        result = env.step(action)
        times.append(clock() - started)
        assert not result[3], result[4]
    return times


def _keep(fastest: list[float], times: list[float]) -> None:
    fastest[:] = map(min, fastest, times)


def _above(times: dict[str, list[float]], name: str) -> float:
    pairs = zip(times[name], times["raw"], strict=True)
    return median(ours - raw for ours, raw in pairs) * 1e6
