# SPDX-License-Identifier: MIT
"""Which clang reads sources and links programs: the one installed, or the one in ``ziglang``."""

import importlib.util
import os
import shutil
import sys

from compiler_gym.envs.llvm.toolchain.tools import MAJOR, tool_name
from compiler_gym.errors import BenchmarkInitError

__all__ = ["OLD_C", "clang_command"]

# Valid C until clang 15; errors since clang 16.
OLD_C = tuple(
    f"-Wno-error={name}"
    for name in (
        "implicit-function-declaration",
        "implicit-int",
        "incompatible-function-pointer-types",
        "int-conversion",
        "return-mismatch",
    )
)
"""Flags that make errors of old C warnings again."""

_INSTALL = (
    f"install one of version {MAJOR} or older (`apt install clang`), or the Python package "
    "`ziglang`, or set COMPILER_GYM_CLANG to one"
)


def clang_command() -> list[str]:
    """Return the command of a clang whose bitcode the engine reads.

    Raises `BenchmarkInitError` with what to install when there is none.
    """
    named = os.environ.get("COMPILER_GYM_CLANG")
    for candidate in (named,) if named else (tool_name("clang"), "clang"):
        found = shutil.which(candidate)
        if found:
            return [found]
    if not named and importlib.util.find_spec("ziglang") is not None:
        target = ("-target", "x86_64-linux-gnu", "-mcpu=baseline", "-fno-sanitize=all")
        return [sys.executable, "-m", "ziglang", "cc", *target]
    if named:
        raise BenchmarkInitError(
            f"expected COMPILER_GYM_CLANG to name a clang of version {MAJOR} or older, "
            f"found {named!r}, "
            "which is no program: set it to another, or to nothing"
        )
    raise BenchmarkInitError(
        f"expected {tool_name('clang')} or clang on PATH to compile a program: {_INSTALL}"
    )
