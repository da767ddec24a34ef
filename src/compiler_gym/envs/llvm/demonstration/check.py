# SPDX-License-Identifier: MIT
"""Runs a found pipeline through LLVM's own ``opt`` and counts with LLVM's own counter.

Nothing of this library takes part: the bitcode on disk goes through ``opt``, and the
instructions of what comes out are those that ``print<func-properties>`` reports.
"""

import re
import shlex
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

__all__ = ["count", "find_opt", "reproduce"]

_COUNT = re.compile(r"^TotalInstructionCount: (\d+)$", re.MULTILINE)
_TOOL_SECONDS = 120.0


def find_opt(version: str) -> str | None:
    """Return the name of an installed ``opt`` of the same major `version`, or None."""
    major = version.partition(".")[0]
    for name in filter(shutil.which, (f"opt-{major}", "opt")):
        with suppress(OSError, subprocess.SubprocessError):
            if f"LLVM version {major}." in _run_tool([name, "--version"]).stdout:
                return name
    return None


def reproduce(command: str, directory: Path) -> int:
    """Run `command` in `directory` and return the instructions of the file it writes.

    Raises `subprocess.SubprocessError` or `OSError` when it fails.
    """
    words = shlex.split(command)
    _run_tool(words, directory)
    return count(words[0], directory / words[words.index("-o") + 1])


def count(opt: str, bitcode: Path) -> int:
    """Return how many instructions LLVM says the functions in `bitcode` have."""
    done = _run_tool([opt, "-disable-output", "-passes=print<func-properties>", str(bitcode)])
    return sum(map(int, _COUNT.findall(done.stderr)))


def _run_tool(
    words: list[str], directory: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        words, cwd=directory, check=True, capture_output=True, text=True, timeout=_TOOL_SECONDS
    )
