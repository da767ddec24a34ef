# SPDX-License-Identifier: MIT
"""Records where the time of a session's calls goes, while a profile is taken.

Nothing here runs otherwise: a session that is timed is another object in the servicer.
Times are those of the monotonic clock, which all processes of a machine share.
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

__all__ = [
    "APPLY",
    "TIMES",
    "Stopwatch",
    "TimedCall",
    "TimedSession",
    "note_child",
    "read_times",
]

TIMES = "service.times"
"""The parameter that a servicer itself answers: ``on``, ``off``, or ``take`` for `read_times`."""

APPLY = "action"
"""What the call of an action is named: the session knows its number only."""

_children: ContextVar[list[TimedPart] | None] = ContextVar("children", default=None)


class TimedCall(Struct, frozen=True, array_like=True):
    """One call of a session."""

    began: int
    """When, on the monotonic clock, in nanoseconds."""
    part: TimedPart


class Stopwatch:
    """What was noted of one servicer's sessions and not taken yet."""

    def __init__(self) -> None:
        self._calls: list[TimedCall] = []

    def watch(self, session: CompilerSession, began: int | None = None) -> "TimedSession":
        """Return `session` with its calls noted; if it just started, that began at `began`."""
        if began is not None:
            taken = monotonic_ns() - began
            self.note(TimedCall(began, TimedPart(Layer.RESET, "start the session", 1, taken)))
        session.time_parts(True)
        return TimedSession(session, self)

    def note(self, call: TimedCall) -> None:
        """Keep `call` until it is taken."""
        self._calls.append(call)

    def take(self) -> str:
        """Return what was noted since the last time, for `read_times`."""
        calls, self._calls = self._calls, []
        return msgspec.json.encode(calls).decode()


class TimedSession(CompilerSession):
    """A session whose calls are noted."""

    def __init__(self, session: CompilerSession, stopwatch: Stopwatch) -> None:
        self.session = session
        """What does the work."""
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
        """Hand a parameter on."""
        with self._note_time(Layer.ACTIONS, key):
            return self.session.handle_session_parameter(key, value)

    def moved(self, working_dir: Any) -> None:
        """Use `working_dir` from now on."""
        self.session.moved(working_dir)

    def close(self) -> None:
        """Release what the session holds."""
        self.session.close()

    def leave(self) -> None:
        """Release what the end of the process does not."""
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
        except Exception:  # it failed in the call, whose error counts
            return []


def note_child(command: Sequence[str], began: int) -> None:
    """Note a process that ends now, if the call that started it is timed."""
    children = _children.get()
    if children is not None:
        name = PurePath(command[0]).name
        children.append(TimedPart(Layer.PROCESSES, name, 1, monotonic_ns() - began))


def read_times(text: str) -> list[TimedCall]:
    """Return the calls that a servicer tells of."""
    return msgspec.json.decode(text, type=list[TimedCall])
