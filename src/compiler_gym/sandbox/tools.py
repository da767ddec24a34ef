# SPDX-License-Identifier: MIT
"""Run a compiler on untrusted source: it can read only its folder and the system's files.

Source code and inline assembly can include any file that the compiler can read, and its contents
would appear in a diagnostic or in the program.
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from compiler_gym.sandbox.box import RunLimits, Workplace, run_boxed
from compiler_gym.sandbox.paths import is_system
from compiler_gym.sandbox.tiers import Sandbox, choose_tier

__all__ = ["run_tool_boxed"]

_TOOL_MEMORY_BYTES = 8 << 30
_TOOL_FILE_BYTES = 1 << 30
_PROCESSES = 256
_OPEN_FILES = 1024


def run_tool_boxed(
    command: Sequence[str],
    *,
    folder: Path,
    seconds: float,
    input: bytes = b"",
    cwd: Path | None = None,
    visible: Sequence[str | os.PathLike[str]] = (),
) -> "subprocess.CompletedProcess[bytes]":
    """Run a compiler that reads and writes in `folder`, and return how it ended.

    It starts in `cwd`, by default in `folder`, and may also read `visible`. In the tier ``none``
    it runs as a plain child process. Raises `subprocess.TimeoutExpired` after `seconds`,
    `OSError` if it cannot be started, and like `compiler_gym.sandbox.choose_tier`.
    """
    tier = choose_tier()
    if tier is Sandbox.NONE:
        return subprocess.run(
            command, input=input, capture_output=True, timeout=seconds, cwd=cwd or folder,
            check=False,
        )  # fmt: skip
    variables = {"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": str(folder)}
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        stdin.write(input)
        stdin.seek(0)
        report = run_boxed(
            command,
            Workplace(
                folder.resolve(),
                visible=[*_find_home(command[0]), *([cwd] if cwd else []), *visible],
                in_place=True,
                directory=cwd.resolve() if cwd else None,
            ),
            sandbox=tier,
            limits=RunLimits(
                seconds, _TOOL_MEMORY_BYTES, _TOOL_FILE_BYTES, _PROCESSES, 0, _OPEN_FILES
            ),
            environment=variables | {"HOME": str(folder), "LC_ALL": "C"},
            streams=(stdin.fileno(), stdout.fileno(), stderr.fileno()),
        )
        if report.stopped_by == "time":
            raise subprocess.TimeoutExpired(list(command), seconds)
        printed: list[bytes] = []
        for stream in (stdout, stderr):
            stream.seek(0)
            printed.append(stream.read())
    return subprocess.CompletedProcess(list(command), report.exit_status, *printed)


def _find_home(program: str) -> list[Path]:
    """Return the folder in which a compiler is installed, unless it belongs to the system."""
    real = Path(program).resolve()
    is_below_a_prefix = real.parent.name == "bin" and len(real.parents) > 3
    if is_system(str(real)):
        return []
    return [real.parent.parent if is_below_a_prefix else real]
