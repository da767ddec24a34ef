# SPDX-License-Identifier: MIT
"""Programs that were opened repeatedly, each loaded in a process that is only forked from.

A reset to such a program takes a copy of its process, which was made ahead if there was time.
All environments of this process share them; what happens in an episode happens to a copy. A
process that is lost, or slow, costs time only: the program is then opened as any other. So is it
after a long episode, because a copy takes a page fault for whatever it touches.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

from compiler_gym.errors import ServiceError
from compiler_gym.options import Limits
from compiler_gym.service.messages import Start

__all__ = ["KeptPrograms", "OpeningCost", "make_key"]

_SHORT_SECONDS = 1e-3
"""What opens faster is opened again: a fork takes as long, and its first steps longer."""
_PAYING_SHARE = 2.0
"""A copy is taken where the episode before computed at most so many times as long as it takes to
open the program: longer ones lose more to its page faults than it saves."""
_PATIENCE_SECONDS = 0.1
"""The longest that a copy is waited for: one that takes longer is not to be had."""
_PROCESS_BYTES = 4 << 20
"""About what a process that stays costs beside its program, and the copy that waits."""


class Forkable(Protocol):
    """What is asked of a connection to a worker."""

    pid: int

    def begin_fork(self, observations: Sequence[str] = (), *, stays: bool = False) -> None:
        """Ask for a copy."""
        ...

    def is_forked(self, seconds: float) -> bool:
        """Return whether the copy is there within `seconds`, or nothing will come."""
        ...

    def end_fork(self) -> Self:
        """Return the copy, or raise `ServiceError`."""
        ...

    def close(self) -> None:
        """End the worker."""
        ...


_Worker = TypeVar("_Worker", bound=Forkable)


@dataclass(frozen=True, slots=True)
class OpeningCost:
    """What a program cost its worker, in seconds of processor time."""

    seconds: float
    """To open it."""
    worked: float = 0.0
    """In the episode before, of this or another program."""

    def pays(self, worked: float) -> bool:
        """Return whether a copy is quicker for an episode that computes for `worked` seconds."""
        return self.seconds >= _SHORT_SECONDS and worked <= _PAYING_SHARE * self.seconds


class _KeptProgram(Generic[_Worker]):
    """One program: the worker that stays at its start, and whether a copy is under way."""

    def __init__(self, worker: _Worker, cost: OpeningCost, known: Sequence[str], size: int) -> None:
        self.worker = worker
        self.cost = cost
        self.known = set(known)
        """The observations that copies need not compute."""
        self.bytes = size
        self._is_coming = False

    def ask(self, names: Sequence[str] = ()) -> None:
        """Ask for the next copy, which will know the observations `names` too."""
        if not self._is_coming:
            unknown = [name for name in names if name not in self.known]
            self.worker.begin_fork(unknown)
            self.known.update(unknown)
            self._is_coming = True

    def take(self) -> _Worker | None:
        """Return a copy; None if that would take longer than to open the program."""
        self.ask()
        if not self.worker.is_forked(min(self.cost.seconds, _PATIENCE_SECONDS)):
            return None
        self._is_coming = False
        return self.worker.end_fork()

    def end(self) -> None:
        """End the worker; a copy that nobody took ends too: nobody can reach it."""
        self.worker.close()


class KeptPrograms(Generic[_Worker]):
    """The programs that the workers of one zygote keep loaded, as long as anybody uses it.

    What one environment does to a program never reaches another: keys hold the contents of a
    program and all that its session is told at the start. Any thread may use it.
    """

    def __init__(self, zygote: int) -> None:
        self._zygote = zygote
        self._lock = threading.RLock()
        self._kept: OrderedDict[Hashable, _KeptProgram[_Worker]] = OrderedDict()
        self._recent: OrderedDict[int, None] = OrderedDict()
        self._users: set[int] = set()
        self._loaded_bytes: int | None = None

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def workers(self) -> list[_Worker]:
        """The workers that stay, the one used longest ago first."""
        return [kept.worker for kept in self._kept.values()]

    def enter(self, user: int) -> None:
        """Note that the connection with this identity uses the zygote."""
        self._users.add(user)

    def leave(self, user: int) -> None:
        """Note that it does no more; the last one takes everything with it."""
        if user in self._users:
            self._users.discard(user)
            if not self._users:
                self.clear()

    def take(self, key: Hashable, worked: float = 0.0) -> _Worker | None:
        """Return a worker that has just started as `key` says; None if it is to be started.

        `worked` is the processor time of the episode before: the next is taken to be like it.
        """
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
            if not kept.cost.pays(worked):
                return None
            try:
                return kept.take()
            except ServiceError:
                self.drop(key)
                return None

    def took(self, key: Hashable, names: Sequence[str]) -> None:
        """Make the next copy, now that one has begun and shown the observations `names`."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return
            try:
                kept.ask(names)
            except ServiceError:
                self.drop(key)

    def note_opened(
        self,
        key: Hashable,
        worker: _Worker,
        limits: Limits,
        cost: OpeningCost,
        names: Sequence[str],
    ) -> None:
        """Note that `worker` has started as `key` says; keep what was lately, too."""
        if not cost.pays(0.0) or limits.kept_programs == 0:
            return
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:  # a copy was too slow this time
                return
            if not self._was_recent(hash(key), limits.kept_programs):
                return
            if not cost.pays(cost.worked):
                return
            try:
                worker.begin_fork(stays=True)
                copy = worker.end_fork()
            except ServiceError:  # if the worker is lost its next step says so
                return
            kept = _KeptProgram(copy, cost, names, self._measure_bytes(copy.pid))
            if kept.bytes > limits.kept_bytes:
                kept.end()
                return
            self._kept[key] = kept
            self._shrink(limits)
            self.took(key, ())

    def drop(self, key: Hashable) -> None:
        """Keep a program no longer."""
        with self._lock:
            kept = self._kept.pop(key, None)
            if kept is not None:
                kept.end()

    def forget(self) -> None:
        """Drop what a forked child inherited: it is the parent's."""
        self._lock = threading.RLock()
        self._kept.clear()
        self._recent.clear()
        self._users.clear()

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._recent.clear()
            for key in list(self._kept):
                self.drop(key)

    def _was_recent(self, mark: int, most: int) -> bool:
        """Return whether a program was among the last `most` that were opened.

        Of more programs in a circle none would be found again before it had to make room.
        """
        was_recent = mark in self._recent
        self._recent[mark] = None
        self._recent.move_to_end(mark)
        while len(self._recent) > most:
            self._recent.popitem(last=False)
        return was_recent

    def _shrink(self, limits: Limits) -> None:
        while self._kept and (
            len(self._kept) > limits.kept_programs
            or sum(kept.bytes for kept in self._kept.values()) > limits.kept_bytes
        ):
            self.drop(next(iter(self._kept)))

    def _measure_bytes(self, pid: int) -> int:
        """Return about how much memory the program in worker `pid` takes."""
        if self._loaded_bytes is None:
            self._loaded_bytes = _anonymous_bytes(self._zygote)
        return _PROCESS_BYTES + max(_anonymous_bytes(pid) - self._loaded_bytes, 0)


def make_key(start: Start, memory_bytes: int) -> Hashable:
    """Return what is equal for starts that lead to the same session, whatever they observe."""
    program = start.benchmark
    return (
        memory_bytes,
        start.action_space,
        program.uri,
        program.contents,
        program.run,
        tuple(sorted(program.parameters.items())),
        tuple(sorted(start.limits.items())),
    )


def _anonymous_bytes(pid: int) -> int:
    """Return the memory of a process that is no file's, with what it shares with its origin."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except (OSError, ValueError):  # it has ended
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
