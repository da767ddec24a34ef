# SPDX-License-Identifier: MIT
"""What a newcomer waits for: an import, the first environment, a command, a reset."""

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.measure import Figure, median_seconds
from compiler_gym import _llvm, make

_MAKE = "import compiler_gym; compiler_gym.make('llvm-v0')"
COMMANDS: dict[str, tuple[tuple[str, ...], float]] = {
    "import compiler_gym": (("python", "-c", "import compiler_gym"), 4),
    "first make() of a process": (("python", "-c", _MAKE), 35),
    "compiler-gym --version": (("compiler-gym", "--version"), 6),
    "compiler-gym --help": (("compiler-gym", "--help"), 6),
    "compiler-gym describe llvm-v0": (("compiler-gym", "describe", "llvm-v0"), 45),
    "compiler-gym run crc32 sroa": (("compiler-gym", "run", "cbench-v1/crc32", "sroa"), 50),
    "the Tab key, for the name of an action": (("compiler-gym",), 11),
}
"""Whole processes, and how many times as long as ``python -c pass`` each may take."""
_TYPED = {
    "_COMPILER_GYM_COMPLETE": "complete_bash",
    "COMP_WORDS": "compiler-gym run cbench-v1/crc32 sr",
    "COMP_CWORD": "3",
}
TURNS = 9


def measure() -> list[Figure]:
    """Return the least time of each process, in turns with that of an empty one."""
    least: dict[str, float] = {}
    for _ in range(TURNS):
        for name, (words, _) in {"": (("python", "-c", "pass"), 1), **COMMANDS}.items():
            least[name] = min(least.get(name, 99.0), _seconds(words))
    empty = least.pop("")
    times = [
        Figure(f"{name}, by python -c pass", seconds / empty, "x", bound)
        for (name, seconds), (_, bound) in zip(least.items(), COMMANDS.values(), strict=True)
    ]
    return [Figure("python -c pass", empty * 1e3, "ms"), *times, *_makes(), *_resets()]


def _seconds(words: tuple[str, ...]) -> float:
    """Return the seconds of a whole process; a command without arguments is asked by the shell."""
    program = Path(sys.executable).with_name(words[0])
    environment = {**os.environ, **(_TYPED if words[1:] == () else {})}
    started = time.perf_counter()
    subprocess.run([program, *words[1:]], capture_output=True, check=True, env=environment)
    return time.perf_counter() - started


def _makes() -> list[Figure]:
    with make("llvm-v0"):
        seconds = median_seconds(lambda: make("llvm-v0").close(), repeats=9)
    return [Figure("next make()", seconds * 1e3, "ms", 10)]


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
