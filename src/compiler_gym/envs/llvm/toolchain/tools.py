# SPDX-License-Identifier: MIT
"""LLVM's own programs: their names in this version, where they are, and what installs them.

The one file of the LLVM environments that says which LLVM they are of: docs/another-llvm.md
lists what else changes with it.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from compiler_gym.errors import EnvironmentNotSupported

__all__ = [
    "ARCHIVE",
    "MAJOR",
    "find_tool",
    "install_command",
    "name_package",
    "read_version",
    "require_tool",
    "tool_name",
]  # fmt: skip

MAJOR = 22
"""The version of LLVM whose tools, packages and bitcode the environments expect."""

ARCHIVE = "https://apt.llvm.org"
"""Where this version's packages are, for distributions without them."""
_PACKAGES = {
    "clang": "clang",
    "clang++": "clang",
    "clang_rt": "libclang-rt-{}-dev",
    "dev": "llvm-{}-dev",
    "ld.lld": "lld",
    "llvm-bolt": "bolt",
    "merge-fdata": "bolt",
}
"""Debian's packages of what is not in ``llvm-MAJOR``."""
_VERSION = re.compile(r"(?:version |LLD )(\d+\.[\w.]+)")
_VERSION_SECONDS = 20.0


def tool_name(tool: str) -> str:
    """Return what `tool` of this version is called.

    >>> tool_name("opt") == f"opt-{MAJOR}"
    True
    """
    return f"{tool}-{MAJOR}"


def name_package(tool: str) -> str:
    """Return the Debian package that has `tool` of this version."""
    name = _PACKAGES.get(tool, "llvm")
    return name.format(MAJOR) if "{}" in name else f"{name}-{MAJOR}"


def find_tool(tool: str, *, any_version: bool = False) -> str | None:
    """Return the path of `tool` of this version, or None.

    With `any_version` the plain name is good enough: for a tool that reads what every version
    writes.
    """
    plain = (tool,) if any_version else ()
    return next(filter(None, map(shutil.which, (tool_name(tool), *plain))), None)


def require_tool(
    tool: str, purpose: str = "", *, error: type[Exception] = EnvironmentNotSupported,
    any_version: bool = False,
) -> str:  # fmt: skip
    """Return the path of `tool`, or raise `error` with what it is for and what installs it."""
    found = find_tool(tool, any_version=any_version)
    if found is None:
        raise error(
            f"needs {' '.join(filter(None, (tool_name(tool), purpose)))}: install it with "
            f"{install_command([name_package(tool)])}"
        )
    return found


def read_version(path: str) -> str:
    """Return the version that an LLVM tool prints, or nothing where it prints none."""
    try:
        return _read_version(path, Path(path).stat().st_mtime_ns)
    except OSError:
        return ""


@cache
def _read_version(path: str, changed: int) -> str:
    """Return the version; `changed` makes a tool that was replaced run again."""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", check=False,
            stdin=subprocess.DEVNULL, timeout=_VERSION_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    match = _VERSION.search(done.stdout)
    return match[1] if match else ""


def install_command(packages: Iterable[str]) -> str:
    """Return the advice that installs `packages`, in quotes for a sentence.

    >>> install_command(["strace"])
    '`apt install strace`'
    """
    names = sorted(set(packages))
    command = f"`apt install {' '.join(names)}`"
    if any(name.endswith(f"-{MAJOR}") for name in names):
        return f"{command} (where apt does not know them: {ARCHIVE})"
    return command
