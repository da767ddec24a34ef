# SPDX-License-Identifier: MIT
"""Records the times of a session's calls while a profile is taken.

Otherwise nothing here runs: a timed session is a different object in the servicer. Times are
from the monotonic clock, which all processes of a machine share.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import PurePath
from time import monotonic_ns
from typing import Any

import msgspec
from msgspec import Struct

from compiler_gym.session import ActionSpaceSpec, CompilerSession, Layer, TimedPart

TIMES = "service.times"
"""The parameter that the servicer itself answers: ``on``, ``off``, or ``take`` (`read_times`)."""

APPLY = "action"
"""The name of the call of an action: the session knows only its number."""

_children: ContextVar[list[TimedPart] | None] = ContextVar("children", default=None)


class TimedCall(Struct, frozen=True, array_like=True):
    """One call of a session."""

    began: int
    """The start of the call on the monotonic clock, in nanoseconds."""
    part: TimedPart


class Stopwatch:
    """The recorded calls of one servicer's sessions that were not taken yet."""

    def __init__(self) -> None:
        self._calls: list[TimedCall] = []

    def watch(self, session: CompilerSession, began: int | None = None) -> "TimedSession":
        """Return `session` with its calls timed; if it just started, that began at `began`."""
        if began is not None:
            elapsed = monotonic_ns() - began
            self.note(TimedCall(began, TimedPart(Layer.RESET, "start the session", 1, elapsed)))
        session.time_parts(True)
        return TimedSession(session, self)

    def note(self, call: TimedCall) -> None:
        """Record `call` until it is taken."""
        self._calls.append(call)

    def take(self) -> str:
        """Return the calls recorded since the last time, for `read_times`."""
        calls, self._calls = self._calls, []
        return msgspec.json.encode(calls).decode()


class TimedSession(CompilerSession):
    """A session whose calls are timed."""

    def __init__(self, session: CompilerSession, stopwatch: Stopwatch) -> None:
        self.session = session
        """The session that does the work."""
        self.initial_action_space = session.initial_action_space
        self._stopwatch = stopwatch

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Apply `action`."""
        with self._note_time(Layer.ACTIONS, APPLY):
            return self.session.apply_action(action)

    def get_observation(self, name: str) -> Any:
        """Return an observation."""
        with self._note_time(Layer.OBSERVATIONS, name):
            return self.session.get_observation(name)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Pass a parameter on."""
        with self._note_time(Layer.ACTIONS, key):
            return self.session.handle_session_parameter(key, value)

    def moved(self, working_dir: Any) -> None:
        """Use `working_dir` from now on."""
        self.session.moved(working_dir)

    def close(self) -> None:
        """Release the resources of the session."""
        self.session.close()

    def leave(self) -> None:
        """Release only resources that the end of the process does not release."""
        self.session.leave()

    @contextmanager
    def _note_time(self, layer: Layer, name: str) -> Generator[None]:
        children: list[TimedPart] = []
        token, began = _children.set(children), monotonic_ns()
        try:
            yield
        finally:
            _children.reset(token)
            ended, parts = monotonic_ns(), [*self._parts(), *children]
            self._stopwatch.note(TimedCall(began, TimedPart(layer, name, 1, ended - began, parts)))
            self._stopwatch.note(
                TimedCall(ended, TimedPart(Layer.PROFILER, "profiler", 1, monotonic_ns() - ended))
            )

    def _parts(self) -> list[TimedPart]:
        try:
            return self.session.timed_parts()
        except Exception:  # the call failed too, and its error counts
            return []


def note_child(command: Sequence[str], began: int) -> None:
    """Record a process that ends now, if the call that started it is timed."""
    children = _children.get()
    if children is not None:
        name = PurePath(command[0]).name
        children.append(TimedPart(Layer.PROCESSES, name, 1, monotonic_ns() - began))


def read_times(text: str) -> list[TimedCall]:
    """Return the calls in a servicer's answer."""
    return msgspec.json.decode(text, type=list[TimedCall])
