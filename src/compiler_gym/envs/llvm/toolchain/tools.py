# SPDX-License-Identifier: MIT
"""LLVM's own programs: their names in this version, their paths and their packages.

This is the only file of the LLVM environments that names the version of LLVM:
docs/another-llvm.md lists the other changes for a new version.
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
"""The site with this version's packages, for distributions that do not have them."""
_PACKAGES = {
    "clang": "clang",
    "clang++": "clang",
    "clang_rt": "libclang-rt-{}-dev",
    "dev": "llvm-{}-dev",
    "ld.lld": "lld",
}
"""The Debian packages of tools that are not in ``llvm-MAJOR``."""
_VERSION = re.compile(r"(?:version |LLD )(\d+\.[\w.]+)")
_VERSION_SECONDS = 20.0


def tool_name(tool: str) -> str:
    """Return the name of `tool` in this version.

    >>> tool_name("opt") == f"opt-{MAJOR}"
    True
    """
    return f"{tool}-{MAJOR}"


def name_package(tool: str) -> str:
    """Return the Debian package that contains this version of `tool`."""
    name = _PACKAGES.get(tool, "llvm")
    return name.format(MAJOR) if "{}" in name else f"{name}-{MAJOR}"


def find_tool(tool: str, *, any_version: bool = False) -> str | None:
    """Return the path of this version of `tool`, or None.

    With `any_version`, the name without a version is accepted too; use this for tools that read
    the output of any version.
    """
    plain = (tool,) if any_version else ()
    return next(filter(None, map(shutil.which, (tool_name(tool), *plain))), None)


def require_tool(
    tool: str, purpose: str = "", *, error: type[Exception] = EnvironmentNotSupported,
    any_version: bool = False,
) -> str:  # fmt: skip
    """Return the path of `tool`, or raise `error` with its purpose and its package."""
    path = find_tool(tool, any_version=any_version)
    if path is None:
        raise error(
            f"{tool_name(tool)} not found{purpose and f'; it is needed {purpose}'}; install it "
            f"with {install_command([name_package(tool)])}"
        )
    return path


def read_version(path: str) -> str:
    """Return the version that an LLVM tool prints, or an empty string if it prints none."""
    try:
        return _read_version(path, Path(path).stat().st_mtime_ns)
    except OSError:
        return ""


@cache
def _read_version(path: str, changed: int) -> str:
    """Return the version; `changed` invalidates the cache if the tool is replaced."""
    try:
        result = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", check=False,
            stdin=subprocess.DEVNULL, timeout=_VERSION_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    match = _VERSION.search(result.stdout)
    return match[1] if match else ""


def install_command(packages: Iterable[str]) -> str:
    """Return the command that installs `packages`, in backquotes, for use in a sentence.

    >>> install_command(["strace"])
    '`apt install strace`'
    """
    names = sorted(set(packages))
    command = f"`apt install {' '.join(names)}`"
    if any(name.endswith(f"-{MAJOR}") for name in names):
        return f"{command} (if apt does not find them: {ARCHIVE})"
    return command
