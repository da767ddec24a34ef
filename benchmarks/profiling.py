# SPDX-License-Identifier: MIT
"""What a profile costs: nothing unless one is asked for, and little while it is taken.

Four environments take the same steps in turns: one that was never profiled, another one like
it, which says how sure the comparison is, one whose profile is over, and one that is being
timed. Each step's least time counts, because other programs on the machine only ever add.
"""

import random
import time
from typing import Any

from benchmarks.measure import Figure
from compiler_gym import make
from compiler_gym.core import CompilerEnv
from compiler_gym.profiling import profile

PROGRAMS = ("cbench-v1/crc32", "cbench-v1/sha", "cbench-v1/jpeg-d")
STEPS, REPEATS = 60, 12
SPACES: dict[str, Any] = {"reward_space": "IrInstructionCountOz", "observation_space": "Autophase"}
TIMES = "service.times"


def measure() -> list[Figure]:
    return [figure for program in PROGRAMS for figure in _of(program)]


def _of(program: str) -> list[Figure]:
    kinds = ("plain", "plain again", "profiled before", "profiled now")
    envs = {kind: make("llvm-v0", benchmark=program, **SPACES) for kind in kinds}
    try:
        generator = random.Random(0)
        actions = [generator.randrange(envs["plain"].action_space.n) for _ in range(STEPS)]
        profile(envs["profiled before"], actions)
        best = {kind: [float("inf")] * STEPS for kind in kinds}
        for repeat in range(REPEATS):
            for kind in kinds if repeat % 2 else kinds[::-1]:
                env = envs[kind]
                env.reset()
                if kind == "profiled now":
                    env.send_param(TIMES, "on")
                best[kind] = list(map(min, best[kind], _seconds(env, actions)))
        with make("llvm-v0", benchmark=program, **SPACES) as env:
            count = env.reset(observation_space="IrInstructionCount")[0]
            found = profile(env, actions)
    finally:
        for env in envs.values():
            env.close()
    label = f"{count:,} instructions"
    told = sum(found.layers().values()) / found.nanoseconds
    return [
        Figure(f"{label}: time of a step, {name}", sum(best[kind]) / sum(best["plain"]), "x", bound)
        for kind, name, bound in (
            ("plain again", "never profiled, against another one", None),
            ("profiled before", "profiled before, against never", 1.02),
            ("profiled now", "while it is profiled, against never", None),
        )
    ] + [
        Figure(f"{label}: share of an episode that a profile explains", told, "", 0.95, "at least")
    ]


def _seconds(env: CompilerEnv, actions: list[int]) -> list[float]:
    times = []
    for action in actions:
        started = time.perf_counter()
        env.step(action)
        times.append(time.perf_counter() - started)
    return times
