# SPDX-License-Identifier: MIT
"""What a step costs beyond the pass itself.

A stopwatch inside the session times each pass where it runs, so what remains of
`step()` is the price of the environment. Each step is taken in several runs of
its episode and its lowest price kept, because other programs on the machine
only ever add; the figure is the median over the steps.
"""

import json
import random
import time
from statistics import median

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
        _timed(uri, isolation="in-process") as local,
        make("llvm-v0", benchmark=uri) as actions,
    ):
        envs = {"bare": bare, "full": full, "local": local}
        runs, above = _interleave(envs, uri, actions)
    return [
        Figure("the pass, raw engine", median(runs["raw"]) * 1e6, "µs"),
        Figure("the pass, in its worker", median(runs["bare"]) * 1e6, "µs"),
        Figure("step() above it, worker, no observation", median(above["bare"]) * 1e6, "µs", 40),
        Figure(
            "step() above it, worker, Autophase + IrInstructionCountOz",
            median(above["full"]) * 1e6,
            "µs",
            60,
        ),
        Figure(
            "step() above it, in process, no observation", median(above["local"]) * 1e6, "µs", 3
        ),
    ]


def _timed(uri: str, **options: str) -> CompilerEnv:
    env = LlvmEnv(benchmark=uri, **options)  # type: ignore[arg-type]
    env._source = TIMED
    return env


def _interleave(
    envs: dict[str, CompilerEnv], uri: str, env: CompilerEnv
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return the seconds of every pass, and of every step above its pass."""
    runs: dict[str, list[float]] = {"raw": [], **{name: [] for name in envs}}
    above: dict[str, list[float]] = {name: [] for name in envs}
    generator = random.Random(0)
    contents = env.datasets.benchmark(uri).contents
    for _ in range(EPISODES):
        actions = [generator.randrange(env.action_space.n) for _ in range(STEPS_PER_EPISODE)]
        pipelines = [env.action_space.flags[action] for action in actions]
        fastest = {name: [float("inf")] * len(actions) for name in runs}
        cheapest = {name: [float("inf")] * len(actions) for name in envs}
        for _ in range(REPEATS):
            _keep(fastest["raw"], _raw_episode(contents, pipelines))
            for name, timed in envs.items():
                run, rest = _episode(timed, actions)
                _keep(fastest[name], run)
                _keep(cheapest[name], rest)
        for name in runs:
            runs[name] += fastest[name]
        for name in envs:
            above[name] += cheapest[name]
    return runs, above


def _raw_episode(contents: bytes, pipelines: list[str]) -> list[float]:
    module = _llvm.Module(contents)
    module.set_goal("size")
    clock, times = time.perf_counter, []
    for pipeline in pipelines:
        started = clock()
        module.run(pipeline)
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
