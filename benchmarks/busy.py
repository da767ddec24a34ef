# SPDX-License-Identifier: MIT
"""Measure small steps and whole episodes next to other jobs, as machines usually are.

Each job is a shell loop that needs a core. Steps are of passes that take about 25 us on crc32;
an episode is a reset and 15 steps, as learners make them.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.measure import Figure
from compiler_gym import make
from compiler_gym.core import CompilerEnv

PROGRAM = "cbench-v1/crc32"
PASSES = ("sroa", "early-cse", "simplifycfg", "dce", "reassociate", "adce", "sccp", "bdce")
STEPS_PER_EPISODE = 15
SECONDS = 2.0
JOBS: dict[str, tuple[int, ...]] = {
    "alone": (),
    "next to one job of nice 19": (19,),
    "next to a job of nice 19 on each core": (19,) * (os.cpu_count() or 1),
    "next to one normal job": (0,),
    "next to a normal job on each core": (0,) * (os.cpu_count() or 1),
}


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with make(
        "llvm-v0", benchmark=PROGRAM, observation_space="Autophase",
        reward_space="IrInstructionCount",
    ) as env:  # fmt: skip
        actions = [env.action_space.names.index(name) for name in PASSES]
        for name, niceness in JOBS.items():
            with _other_jobs(niceness):
                env.reset()
                _rate(env, actions, 0.2)  # until both ends know how busy the machine is
                steps = _rate(env, actions, SECONDS)
                episodes = _episode_rate(env, actions)
            figures.append(Figure(f"{name}: steps", steps, "1/s"))
            figures.append(
                Figure(f"{name}: episodes of {STEPS_PER_EPISODE} steps", episodes, "1/s")
            )
    return figures


@contextmanager
def _other_jobs(niceness: tuple[int, ...]) -> Iterator[None]:
    jobs = [
        subprocess.Popen(["nice", "-n", str(number), "sh", "-c", "while :; do :; done"])
        for number in niceness
    ]
    try:
        yield
    finally:
        for job in jobs:
            job.kill()
            job.wait()


def _rate(env: CompilerEnv, actions: list[int], seconds: float) -> float:
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        env.step(actions[count % len(actions)])
        count += 1
    return count / (time.perf_counter() - began)


def _episode_rate(env: CompilerEnv, actions: list[int]) -> float:
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        env.reset()
        for number in range(STEPS_PER_EPISODE):
            env.step(actions[number % len(actions)])
        count += 1
    return count / (time.perf_counter() - began)
