# SPDX-License-Identifier: MIT
"""Good and bad behaviours of the fake session, by the name of the action.

Each function takes the session, and ends the episode by returning True.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compiler_gym.errors import CompilerFatalError
from compiler_gym.service import run_child

__all__ = ["BEHAVIOURS", "SAFE"]

Session = Any
"""A `FakeSession`, which cannot be imported here, because it imports this module."""


def _increment(session: Session) -> None:
    session.number += 1


def _double(session: Session) -> None:
    session.number = (2 * session.number) % (2**20)


def _negate(session: Session) -> None:
    session.number = -session.number


def _nothing(session: Session) -> None:
    pass


def _end_session(session: Session) -> bool:
    session.number += 1
    return True


def _segfault(session: Session) -> None:
    ctypes.string_at(0)


def _abort(session: Session) -> None:
    os.abort()


def _exit(session: Session) -> None:
    os._exit(3)


def _system_exit(session: Session) -> None:
    sys.exit(3)


def _hang(session: Session) -> None:
    while True:
        time.sleep(60)


def _hang_uninterruptibly(session: Session) -> None:
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    _hang(session)


def _exhaust_memory(session: Session) -> None:
    while True:
        session.memory.append(bytearray(64 << 20))


def _raise(session: Session) -> None:
    raise ZeroDivisionError("an error of the session's own")


def _fatal(session: Session) -> None:
    raise CompilerFatalError("the compiler gave up")


def _fill_disk(session: Session) -> None:
    Path("/dev/full").write_text("x")


def _child(session: Session) -> None:
    session.number = session.compute_in_child() + 1


def _stuck_child(session: Session) -> None:
    run_child(["sh", "-c", "sleep 600 & sleep 600"], timeout=600.0)


def _impatient_child(session: Session) -> None:
    run_child(["sh", "-c", "sleep 601 & sleep 601"], timeout=0.2)


def _background(session: Session) -> None:
    subprocess.Popen(["sleep", "602"])


def _stuck_close(session: Session) -> None:
    session.close = lambda: _hang(session)


def _break_close(session: Session) -> None:
    session.close = lambda: _raise(session)


def _turn_unplain(session: Session) -> None:
    session.number += 1
    session.get_observation = _return_object


def _return_object(name: str) -> object:
    return object()


def _overflow(session: Session) -> None:
    session.number = 2**70


def _compute(session: Session) -> None:
    began = time.process_time()
    while time.process_time() - began < 0.1:
        session.number = session.number


def _thread(session: Session) -> None:
    session.number += 1
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


def _give_warning(session: Session) -> None:
    session.number += 1
    warnings.warn("careful with that number", stacklevel=1)


def _write_file(session: Session) -> None:
    session.write()


SAFE: dict[str, Callable[[Session], Any]] = {
    "add": _increment,
    "double": _double,
    "negate": _negate,
    "nothing": _nothing,
    "child": _child,
}
"""Actions that only compute."""
BEHAVIOURS: dict[str, Callable[[Session], Any]] = {
    **SAFE,
    "end": _end_session,
    "segfault": _segfault,
    "abort": _abort,
    "exit": _exit,
    "system_exit": _system_exit,
    "hang": _hang,
    "hang_uninterruptibly": _hang_uninterruptibly,
    "exhaust_memory": _exhaust_memory,
    "raise": _raise,
    "fatal": _fatal,
    "fill_disk": _fill_disk,
    "stuck_child": _stuck_child,
    "impatient_child": _impatient_child,
    "background": _background,
    "stuck_close": _stuck_close,
    "break_close": _break_close,
    "turn_unplain": _turn_unplain,
    "overflow": _overflow,
    "write_file": _write_file,
    "warn": _give_warning,
    "work": _compute,
    "thread": _thread,
}
"""The safe actions, and those that misbehave."""
