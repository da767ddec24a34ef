# SPDX-License-Identifier: MIT
"""Which clang reads sources and links programs: the one installed, or the one in ``ziglang``."""

import importlib.util
import os
import shutil
import sys

from compiler_gym.errors import BenchmarkInitError

__all__ = ["clang_command"]

_INSTALL = (
    "install it with `apt install clang-22`, install the Python package `ziglang`, or set "
    "COMPILER_GYM_CLANG to a clang of version 22 or older"
)


def clang_command() -> list[str]:
    """Return the command of a clang whose bitcode the engine reads.

    Raises `BenchmarkInitError` with what to install when there is none.
    """
    named = os.environ.get("COMPILER_GYM_CLANG")
    for candidate in (named,) if named else ("clang-22", "clang"):
        found = shutil.which(candidate)
        if found:
            return [found]
    if not named and importlib.util.find_spec("ziglang") is not None:
        target = ("-target", "x86_64-linux-gnu", "-mcpu=baseline", "-fno-sanitize=all")
        return [sys.executable, "-m", "ziglang", "cc", *target]
    looked = named or "clang-22 or clang"
    raise BenchmarkInitError(f"expected {looked} on PATH to compile a program: {_INSTALL}")
