# SPDX-License-Identifier: MIT
"""Make a function small with ``llvm-reduce``: what stays shows the gap, and is no nonsense.

``llvm-reduce`` runs a script that asks us through two FIFOs: a check costs a fork of the engine,
not the start of a process that loads LLVM. No program is run here.
"""

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from compiler_gym.envs.llvm.toolchain import require_tool
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.files import scratch_directory

__all__ = ["Reduced", "reduce_ir"]

_SCRIPT = 'printf "%s\\n" "$1" > ask && read -r answer < tell && exit "$answer"\nexit 1\n'

_SKIPPED = (
    *("operands-poison", "operands-nan", "opcodes", "module-data", "target-features-attr"),
    *("arguments-to-return", "instructions-to-return", "volatile", "atomic-ordering"),
    *("syncscopes", "special-globals", "di-metadata", "dbg-records", "distinct-metadata"),
)
"""Reductions whose results are refused, or look like nobody's code."""


class Reduced:
    """What a reduction came to."""

    def __init__(self, texts: Sequence[str], *, tests: int, is_finished: bool) -> None:
        self.texts = texts
        """The programs that passed the test, the smallest last; the first one where none did."""
        self.tests = tests
        self.is_finished = is_finished
        """True if it ended by itself: time did not end it."""


def reduce_ir(text: str, is_interesting: Callable[[bytes], bool], *, seconds: float) -> Reduced:
    """Return the smallest that ``llvm-reduce`` makes of `text` within `seconds`.

    Raises `BenchmarkInitError` where it is not installed.
    """
    tool = require_tool("llvm-reduce", "to make programs small", error=BenchmarkInitError)
    with scratch_directory("reduce") as name:
        folder = Path(name)
        (folder / "test.sh").write_text(_SCRIPT, encoding="utf-8")
        (folder / "input.ll").write_text(text, encoding="utf-8")
        for pipe in ("ask", "tell"):
            os.mkfifo(folder / pipe)
        ask, tell = (os.open(folder / pipe, os.O_RDWR | os.O_CLOEXEC) for pipe in ("ask", "tell"))
        skipped = f"--skip-delta-passes={','.join(_SKIPPED)}"
        setpriv = shutil.which("setpriv")
        bound = [setpriv, "--pdeathsig=KILL"] if setpriv else []
        test, *arguments = [*bound, "/bin/sh", "test.sh"]
        command = [
            *bound, tool, skipped, f"--test={test}", *(f"--test-arg={one}" for one in arguments),
            "input.ll", "-o", "output.ll",
        ]  # fmt: skip
        # Its messages go nowhere; its group ends with it, the script that waits for us included.
        # The kernel ends both where this process is killed.
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            return _answering(process, folder, (ask, tell), is_interesting, seconds, text)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(ask)
            os.close(tell)


def _answering(
    process: "subprocess.Popen[bytes]", folder: Path, pipes: tuple[int, int],
    is_interesting: Callable[[bytes], bool], seconds: float, text: str,
) -> Reduced:  # fmt: skip
    ask, tell = pipes
    deadline, tests = time.monotonic() + seconds, 0
    texts = [text]
    while time.monotonic() < deadline:
        if not select.select([ask], [], [], 0.05)[0]:
            if process.poll() is not None:
                return Reduced(texts, tests=tests, is_finished=True)
            continue
        found = (folder / os.read(ask, 4096).decode().strip()).read_bytes()
        tests += 1
        good = is_interesting(found)
        if good and len(found) <= len(texts[-1].encode()):
            texts.append(found.decode(errors="replace"))
        os.write(tell, b"0\n" if good else b"1\n")
    return Reduced(texts, tests=tests, is_finished=False)
