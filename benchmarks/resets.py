# SPDX-License-Identifier: MIT
"""What a reset to a program that was opened before costs, and a fork beside the kernel's own."""

import subprocess
import sys
import time
from statistics import median

from benchmarks.measure import Figure
from compiler_gym import make

PROGRAMS = (
    "cbench-v1/crc32",
    "cbench-v1/sha",
    "cbench-v1/bzip2",
    "cbench-v1/jpeg-c",
    "cbench-v1/ghostscript",
)
_STEPS = ("mem2reg", "sroa", "dce")
_BARE = """
import gc, os, sys, time
from statistics import median
import compiler_gym.envs.llvm.session  # what a worker has loaded
from compiler_gym import _llvm
module = _llvm.Module(sys.stdin.buffer.read())
gc.collect(); gc.freeze()
times = []
for _ in range(60):
    reader, writer = os.pipe()
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.write(writer, b"x")
        os._exit(0)
    os.read(reader, 1)
    times.append(time.perf_counter() - began)
    os.waitpid(child, 0); os.close(reader); os.close(writer)
    time.sleep(2e-3)
print(median(times))
"""
"""A process that has a program loaded forks, and its copy answers."""


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        actions = [env.action_space.names.index(name) for name in _STEPS]
        for uri in PROGRAMS:
            count = _open(env, uri)
            figures.append(Figure(f"reset() to {uri} again", _reset_ms(env, actions), "ms", 1.0))
            env.multistep(actions)
            ratio = _fork_seconds(env) / _bare_seconds(env.datasets.benchmark(uri).contents)
            name = f"fork() at {count:,} instructions, by a bare fork of its process"
            figures.append(Figure(name, ratio, "x", 1.5))
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
    return median(times)


def _bare_seconds(contents: bytes) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _BARE], input=contents, capture_output=True, check=True
    )
    return float(done.stdout)
