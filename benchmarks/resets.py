# SPDX-License-Identifier: MIT
"""What a reset to a program that was opened before costs, and a fork beside the kernel's own."""

import time
from statistics import median

from benchmarks.measure import Figure
from benchmarks.timed_session import bare_fork_seconds
from compiler_gym import make

PROGRAMS = (
    "cbench-v1/crc32",
    "cbench-v1/sha",
    "cbench-v1/bzip2",
    "cbench-v1/jpeg-c",
    "cbench-v1/ghostscript",
)
SECONDS = 0.2
_STEPS = ("mem2reg", "sroa", "dce")


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        actions = [env.action_space.names.index(name) for name in _STEPS]
        for uri in PROGRAMS:
            count = _open(env, uri)
            figures.append(Figure(f"reset() to {uri} again", _reset_ms(env, actions), "ms", 5.0))
            env.multistep(actions)
            with make("llvm-v0") as twin:
                ratio = _fork_seconds(env) / bare_fork_seconds(twin, env, SECONDS)
            name = f"fork() at {count:,} instructions, by a bare fork of its process"
            figures.append(Figure(name, ratio, "x", 2.5))
    return figures


def _open(env, uri: str) -> int:
    for _ in range(3):
        env.reset(benchmark=uri)
    return env.observation["IrInstructionCount"]


def _reset_ms(env, actions: list[int]) -> float:
    times = []
    for _ in range(60):
        env.multistep(actions)
        time.sleep(3e-3)  # an agent thinks: the next copy is made meanwhile
        began = time.perf_counter()
        env.reset()
        times.append(time.perf_counter() - began)
    return median(times) * 1e3


def _fork_seconds(env) -> float:
    times = []
    for _ in range(60):
        began = time.perf_counter()
        twin = env.fork()
        times.append(time.perf_counter() - began)
        twin.close()
        time.sleep(2e-3)
    return min(times)
