# SPDX-License-Identifier: MIT
"""Which clang reads sources and links programs: the one installed, or the one in ``ziglang``."""

import importlib.util
import os
import shutil
import sys

from compiler_gym.envs.llvm.toolchain.tools import (
    MAJOR,
    install_command,
    name_package,
    read_version,
    tool_name,
)
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
    f"install it with {install_command([name_package('clang')])}, or an older clang, or the Python "
    "package `ziglang`; or set COMPILER_GYM_CLANG to the path of a clang"
)


def clang_command() -> list[str]:
    """Return the command of a clang whose bitcode the engine reads.

    Raises `BenchmarkInitError` with what to install when there is none.
    """
    named = os.environ.get("COMPILER_GYM_CLANG")
    for candidate in (named,) if named else (tool_name("clang"), "clang"):
        found = shutil.which(candidate)
        if found and (candidate == tool_name("clang") or not _is_newer(found)):
            return [found]
    if not named and importlib.util.find_spec("ziglang") is not None:
        target = ("-target", "x86_64-linux-gnu", "-mcpu=baseline", "-fno-sanitize=all")
        return [sys.executable, "-m", "ziglang", "cc", *target]
    newer = shutil.which(named or "clang")
    if newer:
        raise BenchmarkInitError(
            f"{newer} is clang {read_version(newer)}, whose bitcode LLVM {MAJOR} cannot read: "
            f"needs {tool_name('clang')}: {_INSTALL}"
        )
    if named:
        raise BenchmarkInitError(
            f"COMPILER_GYM_CLANG is {named!r}, which is not a program: set it to the path of a "
            f"clang of version {MAJOR} or older, or unset it"
        )
    raise BenchmarkInitError(
        f"neither {tool_name('clang')} nor clang is on PATH, and compiling a program needs one: "
        f"{_INSTALL}"
    )


def _is_newer(clang: str) -> bool:
    """Return whether `clang` writes bitcode that the engine may not read."""
    major = read_version(clang).partition(".")[0]
    return major.isdigit() and int(major) > MAJOR
