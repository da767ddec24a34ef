# SPDX-License-Identifier: MIT
"""Which clang reads sources and links programs: the one installed, or the one in ``ziglang``."""

import importlib.util
import os
import shutil
import sys

from compiler_gym.errors import BenchmarkInitError

__all__ = ["clang_command"]

_INSTALL = (
    "install one of version 22 or older (`apt install clang`), or the Python package `ziglang`, "
    "or set COMPILER_GYM_CLANG to one"
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
    if named:
        raise BenchmarkInitError(
            f"expected COMPILER_GYM_CLANG to name a clang of version 22 or older, found {named!r}, "
            "which is no program: set it to another, or to nothing"
        )
    raise BenchmarkInitError(f"expected clang-22 or clang on PATH to compile a program: {_INSTALL}")
