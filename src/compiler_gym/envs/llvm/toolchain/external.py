# SPDX-License-Identifier: MIT
"""The LLVM programs installed here: their versions, the features they enable, and missing ones.

Nothing is compiled: each program only prints its version.
"""

import os
import shutil
import subprocess
from functools import partial

from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.tools import (
    ARCHIVE,
    MAJOR,
    find_tool,
    install_command,
    name_package,
    read_version,
    tool_name,
)
from compiler_gym.errors import CompilerGymError, ProjectError
from compiler_gym.registration import ExternalTool

__all__ = ["external_tools", "require_build_tools"]

_SECONDS = 20.0
_BUILD = "tune, `cc --policy` and `cc --recipe`"
_OTHERS = (
    ("opt", "validate, reproduce.sh, and the check at the end of demo"),
    ("llvm-reduce", "hunt, and small bug reports"),
    ("llvm-profdata", "tune --goal speed with --train or --profile"),
    ("llvm-dis", "tune --goal speed with --profile"),
)
"""Tools that must have this version, and the features that each enables."""


def external_tools() -> list[ExternalTool]:
    """Return every LLVM program that a feature runs."""
    rows = _build_tools()
    for tool, enables in _OTHERS:
        path = find_tool(tool)
        version = "" if path is None else read_version(path)
        rows.append(
            ExternalTool(
                tool_name(tool), enables, name_package(tool), path, version, archive=ARCHIVE
            )
        )
    return rows


def require_build_tools() -> None:
    """Raise `ProjectError` if tools for builds are missing or have another version.

    The message names all of them, with one command that installs them.
    """
    missing = [row for row in _build_tools() if row.path is None or row.problem]
    if missing:
        reasons = [row.problem or f"{row.name} is not on PATH" for row in missing]
        raise ProjectError(
            f"{'; '.join(reasons)}; install it with "
            f"{install_command(row.package for row in missing)}; "
            "`compiler-gym doctor` lists every tool"
        )


def _build_tools() -> list[ExternalTool]:
    """Return the tools that a build of a project runs: a compiler, a linker and strip."""
    make_row = partial(ExternalTool, archive=ARCHIVE, is_required=True)
    try:
        clang, reason = clang_command(), ""
    except CompilerGymError as error:
        is_there = os.environ.get("COMPILER_GYM_CLANG") or shutil.which("clang")
        clang, reason = list[str](), str(error).partition(": ")[0] if is_there else ""
    path = clang[0] if len(clang) == 1 else None
    version = read_version(path) if path else ""
    if clang and path is None:
        reason = f"the clang in the Python package ziglang cannot be used for {_BUILD}"
    elif path and not _is_supported(version):
        reason = _version_problem(path, "clang", version)
    compiler = f"programs in C and C++, hunt, {_BUILD}"
    linker = _find_lld(path)
    lld = read_version(linker) if linker else ""
    problem = _version_problem(linker, "lld", lld) if linker and not _is_supported(lld) else ""
    strip = find_tool("llvm-strip") or find_tool("strip", any_version=True)
    return [
        make_row(
            tool_name("clang"), compiler, name_package("clang"), path, version, problem=reason
        ),
        make_row(
            tool_name("ld.lld"), f"{_BUILD}, linked sizes", name_package("ld.lld"), linker, lld,
            problem=problem,
        ),
        make_row("strip", f"{_BUILD}, linked sizes", "binutils", strip),
    ]  # fmt: skip


def _is_supported(version: str) -> bool:
    return version.partition(".")[0] == str(MAJOR)


def _version_problem(path: str, name: str, version: str) -> str:
    actual = f"is {name} {version}" if version else f"does not print a version of {name}"
    return f"{path} {actual}, but building a project needs {name} {MAJOR}"


def _find_lld(clang: str | None) -> str | None:
    """Return the lld that `clang` links with: the one next to it, otherwise the one on PATH."""
    if clang is not None and _is_supported(read_version(clang)):
        try:
            result = subprocess.run(
                [clang, "-print-prog-name=ld.lld"], capture_output=True, text=True, check=False,
                stdin=subprocess.DEVNULL, timeout=_SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return None
        if (path := result.stdout.strip()).startswith("/"):
            return path
    return find_tool("ld.lld", any_version=True)
