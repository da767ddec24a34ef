# SPDX-License-Identifier: MIT
"""Reduce a function with ``llvm-reduce``, keeping the gap and meaningful code.

``llvm-reduce`` runs a script that sends each candidate here through two FIFOs, so a check costs a
fork of the engine instead of starting a process that loads LLVM. No program is run here.
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
"""Reductions whose results would be rejected, or look unlike real code."""


class Reduced:
    """The result of a reduction."""

    def __init__(self, texts: Sequence[str], *, tests: int, is_finished: bool) -> None:
        self.texts = texts
        """The programs that passed the test, the smallest last; otherwise the original program."""
        self.tests = tests
        self.is_finished = is_finished
        """True if the reduction finished within the time limit."""


def reduce_ir(text: str, is_interesting: Callable[[bytes], bool], *, seconds: float) -> Reduced:
    """Reduce `text` with ``llvm-reduce`` for at most `seconds`.

    Raises `BenchmarkInitError` if ``llvm-reduce`` is not installed.
    """
    tool = require_tool("llvm-reduce", "to reduce programs", error=BenchmarkInitError)
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
            *bound, tool, skipped, f"--test={test}", *(f"--test-arg={each}" for each in arguments),
            "input.ll", "-o", "output.ll",
        ]  # fmt: skip
        # Discard its messages. Its process group, which includes the waiting script, is killed at
        # the end, and by the kernel if this process is killed.
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            return _answer_requests(process, folder, (ask, tell), is_interesting, seconds, text)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(ask)
            os.close(tell)


def _answer_requests(
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
        candidate = (folder / os.read(ask, 4096).decode().strip()).read_bytes()
        tests += 1
        passes = is_interesting(candidate)
        if passes and len(candidate) <= len(texts[-1].encode()):
            texts.append(candidate.decode(errors="replace"))
        os.write(tell, b"0\n" if passes else b"1\n")
    return Reduced(texts, tests=tests, is_finished=False)
