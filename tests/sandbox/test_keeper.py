# SPDX-License-Identifier: MIT
"""The keeper runs a command by itself, reports how it ended, and leaves no process behind."""

import os
import subprocess
import sys
from pathlib import Path

from compiler_gym.sandbox import keeper


def kept(*words: str) -> tuple[int, str]:
    """Return the status of the keeper of a command, and its report."""
    life, alive = os.pipe()
    report, says = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(Path(keeper.__file__)), str(life), str(says),
             str(os.getpid()), *words],
            pass_fds=(life, says), check=False,
        )  # fmt: skip
        os.close(says)
        with os.fdopen(report, closefd=False) as said:
            return done.returncode, said.read()
    finally:
        for descriptor in (life, alive, report):
            os.close(descriptor)


def test_it_reports_the_processor_time_of_a_command_and_ends_with_its_status() -> None:
    status, said = kept("sh", "-c", "exit 5")
    assert status == 5
    word, seconds = said.split()
    assert word == "ended"
    assert float(seconds) >= 0


def test_it_reports_the_number_of_the_error_of_a_command_that_cannot_be_run() -> None:
    status, said = kept("/no/such/program")
    assert (status, said) == (127, "failed 2")


def test_a_signal_is_128_and_its_number() -> None:
    assert kept("sh", "-c", "kill -9 $$")[0] == 137


def test_it_loads_nothing_of_this_package() -> None:
    text = Path(keeper.__file__).read_text("utf-8")
    assert "compiler_gym" not in text
