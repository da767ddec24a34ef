# SPDX-License-Identifier: MIT
"""LLVM's programs as they are installed here: their versions, what they enable, what is missing.

Nothing is compiled: each program is only asked for its version.
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
    ("llvm-bolt", "tune --goal speed: the layout of the linked file"),
)
"""Tools that must be of this version, and what each enables."""


def external_tools() -> list[ExternalTool]:
    """Return every program of LLVM that a feature runs."""
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
    """Raise `ProjectError` that names every tool of builds that is missing or of another version.

    The advice installs all of them at once.
    """
    lacking = [row for row in _build_tools() if row.path is None or row.problem]
    if lacking:
        reasons = [row.problem or f"{row.name} is not on PATH" for row in lacking]
        raise ProjectError(
            f"{'; '.join(reasons)}: install it with "
            f"{install_command(row.package for row in lacking)}; "
            "`compiler-gym doctor` lists every tool"
        )


def _build_tools() -> list[ExternalTool]:
    """Return what a build of a project runs: a compiler, its linker, and what strips."""
    described = partial(ExternalTool, archive=ARCHIVE, is_required=True)
    try:
        clang, reason = clang_command(), ""
    except CompilerGymError as error:
        is_there = os.environ.get("COMPILER_GYM_CLANG") or shutil.which("clang")
        clang, reason = list[str](), str(error).partition(": ")[0] if is_there else ""
    path = clang[0] if len(clang) == 1 else None
    version = read_version(path) if path else ""
    if clang and path is None:
        reason = f"the clang of the Python package ziglang cannot build projects, {_BUILD}"
    elif path and not _is_ours(version):
        reason = _unfit(path, "clang", version)
    compiler = f"programs in C and C++, hunt, {_BUILD}"
    linker = _find_lld(path)
    linked = read_version(linker) if linker else ""
    unfit = _unfit(linker, "lld", linked) if linker and not _is_ours(linked) else ""
    strip = find_tool("llvm-strip") or find_tool("strip", any_version=True)
    return [
        described(
            tool_name("clang"), compiler, name_package("clang"), path, version, problem=reason
        ),
        described(
            tool_name("ld.lld"), f"{_BUILD}, linked sizes", name_package("ld.lld"), linker, linked,
            problem=unfit,
        ),
        described("strip", f"{_BUILD}, linked sizes", "binutils", strip),
    ]  # fmt: skip


def _is_ours(version: str) -> bool:
    return version.partition(".")[0] == str(MAJOR)


def _unfit(path: str, name: str, version: str) -> str:
    has = f"is {name} {version}" if version else f"prints no version of {name}"
    return f"{path} {has}, and building a project needs {name} {MAJOR}"


def _find_lld(clang: str | None) -> str | None:
    """Return the lld that `clang` links with: the one beside it, or else on PATH."""
    if clang is not None and _is_ours(read_version(clang)):
        try:
            done = subprocess.run(
                [clang, "-print-prog-name=ld.lld"], capture_output=True, text=True, check=False,
                stdin=subprocess.DEVNULL, timeout=_SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return None
        if (path := done.stdout.strip()).startswith("/"):
            return path
    return find_tool("ld.lld", any_version=True)
