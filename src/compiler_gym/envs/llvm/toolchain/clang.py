# SPDX-License-Identifier: MIT
"""The clang that compiles sources and links programs: installed, or from ``ziglang``."""

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
"""Flags that turn these errors into warnings again, for old C."""

_INSTALL = (
    f"install it with {install_command([name_package('clang')])}, install an older clang or the "
    "Python package `ziglang`, or set COMPILER_GYM_CLANG to the path of a clang"
)


def clang_command() -> list[str]:
    """Return the command for a clang whose bitcode the engine can read.

    Raises `BenchmarkInitError` with installation advice if there is none.
    """
    setting = os.environ.get("COMPILER_GYM_CLANG")
    for candidate in (setting,) if setting else (tool_name("clang"), "clang"):
        path = shutil.which(candidate)
        if path and (candidate == tool_name("clang") or not _is_newer(path)):
            return [path]
    if not setting and importlib.util.find_spec("ziglang") is not None:
        target = ("-target", "x86_64-linux-gnu", "-mcpu=baseline", "-fno-sanitize=all")
        return [sys.executable, "-m", "ziglang", "cc", *target]
    newer = shutil.which(setting or "clang")
    if newer:
        raise BenchmarkInitError(
            f"{newer} is clang {read_version(newer)}, whose bitcode LLVM {MAJOR} cannot read: "
            f"{tool_name('clang')} is needed; {_INSTALL}"
        )
    if setting:
        raise BenchmarkInitError(
            f"COMPILER_GYM_CLANG is {setting!r}, which is not a program: set it to the path of a "
            f"clang of version {MAJOR} or older, or unset it"
        )
    raise BenchmarkInitError(
        f"neither {tool_name('clang')} nor clang is on PATH; one is needed to compile a program: "
        f"{_INSTALL}"
    )


def _is_newer(clang: str) -> bool:
    """Return whether `clang` is too new for the engine to read its bitcode."""
    major = read_version(clang).partition(".")[0]
    return major.isdigit() and int(major) > MAJOR
