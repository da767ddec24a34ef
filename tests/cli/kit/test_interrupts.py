# SPDX-License-Identifier: MIT
"""The first Ctrl-C is a request, the second an exception, and the old way comes back."""

import os
import signal
import threading

import pytest

from compiler_gym.cli.kit.interrupts import Interrupts, exit_when_terminated


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
