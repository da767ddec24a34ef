# SPDX-License-Identifier: MIT
"""What a newcomer waits for: the import, the first environment, a reset."""

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Figure, median_seconds
from compiler_gym import _llvm, make

_FIRST = """
import json, time
started = time.perf_counter()
import compiler_gym
imported = time.perf_counter()
import gymnasium, compiler_gym.registration, compiler_gym.envs.llvm.environment
loaded = time.perf_counter()
env = compiler_gym.make("llvm-v0")
first = time.perf_counter()
other = compiler_gym.make("llvm-v0")
second = time.perf_counter()
print(json.dumps([imported - started, first - loaded, second - first]))
"""


def measure() -> list[Figure]:
    runs = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", _FIRST], capture_output=True, check=True, text=True
            ).stdout
        )
        for _ in range(7)
    ]
    imported, first, second = (median(column) * 1e3 for column in zip(*runs, strict=True))
    return [
        Figure("import compiler_gym", imported, "ms", 100),
        Figure("first make() of a process, beyond imports", first, "ms", 300),
        Figure("next make()", second, "ms", 10),
        Figure("compiler-gym --help, from a shell", _command("--help"), "ms", 300),
        Figure("compiler-gym version, from a shell", _command("version"), "ms", 500),
        *_resets(),
    ]


def _command(*words: str) -> float:
    """Return the milliseconds that a command takes, the start of Python with it."""
    program = Path(sys.executable).with_name("compiler-gym")
    seconds: list[float] = []
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run([program, *words], capture_output=True, check=True)
        seconds.append(time.perf_counter() - started)
    return median(seconds) * 1e3


def _resets() -> list[Figure]:
    figures = []
    with make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        for uri in ("cbench-v1/crc32", "cbench-v1/sha"):
            contents = env.datasets.benchmark(uri).contents
            env.reset(benchmark=uri)
            parse = median_seconds(lambda contents=contents: _parse(contents), repeats=200)
            reset = median_seconds(env.reset, repeats=200)
            figures.append(
                Figure(f"reset() to {uri}, above its parse", (reset - parse) * 1e3, "ms", 1.5)
            )
    return figures


def _parse(contents: bytes) -> None:
    _llvm.Module(contents).set_goal("size")
