# SPDX-License-Identifier: MIT
"""What a step costs beyond the pass itself.

In a worker a stopwatch inside the session times each pass where it runs, so what
remains of `step()` is the price of the environment. In process a stopwatch would
cost as much as what it measures: there the same passes run in the raw engine
beside it, on a module that lives as long as an environment's does, because memory
that was just freed and taken again is faster. Each step is taken in several runs
of its episode and its lowest time kept, because other programs on the machine only
ever add; the figure is the median over the steps.
"""

import json
import operator
import random
import time
from dataclasses import replace
from statistics import median
from typing import Any

from benchmarks.measure import Figure, programs_of_size
from benchmarks.timed_session import RUN_SECONDS
from compiler_gym import _llvm, make
from compiler_gym.core import CompilerEnv
from compiler_gym.envs.llvm.environment import LlvmEnv
from compiler_gym.service import SessionSource

STEPS_PER_EPISODE = 40
EPISODES = 12
REPEATS = 5
TIMED = SessionSource("benchmarks.timed_session:TimedLlvmSession")


def measure() -> list[Figure]:
    uri = min(programs_of_size(500, 2000), key=len)
    seen = {"observation_space": "Autophase", "reward_space": "IrInstructionCountOz"}
    with (
        _timed(uri) as bare,
        _timed(uri, **seen) as full,
        make("llvm-v0", benchmark=uri, isolation="in-process") as local,
    ):
        runs, above = _interleave({"bare": bare, "full": full}, local, uri)
    return [
        Figure("the pass, raw engine", median(runs["raw"]) * 1e6, "µs"),
        Figure("the pass, in its worker", median(runs["bare"]) * 1e6, "µs"),
        Figure("step() above it, worker, no observation", median(above["bare"]) * 1e6, "µs", 70),
        Figure(
            "step() above it, worker, Autophase + IrInstructionCountOz",
            median(above["full"]) * 1e6,
            "µs",
            110,
        ),
        Figure(
            "step() above it, in process, no observation", median(above["local"]) * 1e6, "µs", 20
        ),
    ]


def _timed(uri: str, **options: Any) -> CompilerEnv:
    env = LlvmEnv(benchmark=uri, **options)
    env.episode.sessions = replace(env.episode.sessions, source=TIMED)
    return env


def _interleave(
    envs: dict[str, CompilerEnv], local: CompilerEnv, uri: str
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return the seconds of every pass, and of every step above its pass."""
    runs: dict[str, list[float]] = {"raw": [], **{name: [] for name in envs}}
    above: dict[str, list[float]] = {"local": [], **{name: [] for name in envs}}
    generator = random.Random(0)
    contents = local.datasets.benchmark(uri).contents
    space: Any = local.action_space
    kept: list[Any] = []
    for _ in range(EPISODES):
        actions = [generator.randrange(space.n) for _ in range(STEPS_PER_EPISODE)]
        pipelines = [space.flags[action] for action in actions]
        fastest = {name: [float("inf")] * len(actions) for name in runs}
        cheapest = {name: [float("inf")] * len(actions) for name in above}
        for _ in range(REPEATS):
            _keep(fastest["raw"], _raw_episode(contents, pipelines, kept))
            _keep(cheapest["local"], _plain_episode(local, actions))
            for name, timed in envs.items():
                run, rest = _episode(timed, actions)
                _keep(fastest[name], run)
                _keep(cheapest[name], rest)
        for name in runs:
            runs[name] += fastest[name]
        cheapest["local"] = list(map(operator.sub, cheapest["local"], fastest["raw"]))
        for name in above:
            above[name] += cheapest[name]
    return runs, above


def _raw_episode(contents: bytes, pipelines: list[str], kept: list[Any]) -> list[float]:
    """Return the seconds of each pass; the module stays in `kept` until the next one is there."""
    module = _llvm.Module(contents)
    module.set_goal("size")
    kept[:] = [module]
    clock, times = time.perf_counter, []
    for pipeline in pipelines:
        started = clock()
        module.run(pipeline)
        times.append(clock() - started)
    return times


def _plain_episode(env: CompilerEnv, actions: list[int]) -> list[float]:
    env.reset()
    clock, times = time.perf_counter, []
    for action in actions:
        started = clock()
        env.step(action)
        times.append(clock() - started)
    return times


def _episode(env: CompilerEnv, actions: list[int]) -> tuple[list[float], list[float]]:
    env.reset()
    clock, times = time.perf_counter, []
    for action in actions:
        started = clock()
        result = env.step(action)
        times.append(clock() - started)
        assert not result[3], result[4]
    (reply,) = env.send_params((RUN_SECONDS, ""))
    runs = json.loads(reply)
    return runs, [step - run for step, run in zip(times, runs, strict=True)]


def _keep(fastest: list[float], times: list[float]) -> None:
    fastest[:] = map(min, fastest, times)
