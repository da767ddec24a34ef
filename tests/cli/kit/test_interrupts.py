# SPDX-License-Identifier: MIT
"""A command ends in order after Ctrl-C, after SIGTERM, and after its reader."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from compiler_gym.cli.kit.interrupts import (
    READER_LEFT,
    Interrupts,
    exit_when_terminated,
    leaving_with_the_reader,
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_noted_and_the_second_raises(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        interrupts.check()
        os.kill(os.getpid(), number)
        assert interrupts.requested
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            interrupts.check()
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_another_thread_than_the_main_one_leaves_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def enter() -> None:
        with Interrupts() as interrupts:
            seen.extend((signal.getsignal(signal.SIGINT), interrupts.requested))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [before, False]


def test_sigterm_is_an_orderly_exit() -> None:
    before = signal.getsignal(signal.SIGTERM)
    exit_when_terminated()
    try:
        with pytest.raises(SystemExit, match=r"^143$"):
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_complete_output_is_unchanged() -> None:
    with leaving_with_the_reader():
        done = "all"
    assert done == "all"


def test_a_reader_that_leaves_ends_the_command_without_a_word() -> None:
    code = (
        "from compiler_gym.cli.kit.interrupts import leaving_with_the_reader\n"
        "with leaving_with_the_reader():\n"
        "    for number in range(100_000):\n"
        "        print('line', number)\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    assert writer.stdout.readline() == "line 0\n"
    writer.stdout.close()
    said = writer.stderr.read()
    writer.stderr.close()
    assert (writer.wait(), said) == (READER_LEFT, "")
