# SPDX-License-Identifier: MIT
"""Programs that were opened repeatedly, each loaded in a process that exists only to be forked.

A reset to such a program uses a fork of its process, made in advance if there was time. All
environments of this process share them; an episode changes only its copy. A process that is
lost or slow costs only time: the program is then opened as usual. That also happens after a long
episode, because a copy takes a page fault for every page that it touches.
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

_SHORT_SECONDS = 4e-3
"""Programs that open faster than this are not kept: a copy takes about as much processor time."""
_PAYING_SHARE = 2.0
"""A copy is used if the previous episode computed at most this many times as long as it takes to
open the program: longer episodes lose more to page faults than they save."""
_PATIENCE_SECONDS = 0.1
"""The longest wait for a copy, in seconds; after that the program is opened instead."""
_PROCESS_BYTES = 4 << 20
"""Approximate memory of a kept process besides its program, and of its waiting copy."""


class Forkable(Protocol):
    """The operations that this module needs from a connection to a worker."""

    pid: int

    def begin_fork(self, observations: Sequence[str] = (), *, stays: bool = False) -> None:
        """Request a copy."""
        ...

    def is_forked(self, seconds: float) -> bool:
        """Return whether `end_fork` will not block, after waiting at most `seconds`."""
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
    """The processor time of a worker for a program, in seconds."""

    seconds: float
    """Time to open the program."""
    worked: float = 0.0
    """Time of the previous episode, with this or another program."""

    def pays(self, worked: float) -> bool:
        """Return whether a copy is faster for an episode that computes for `worked` seconds."""
        return self.seconds >= _SHORT_SECONDS and worked <= _PAYING_SHARE * self.seconds


class _KeptProgram(Generic[_Worker]):
    """A program: the worker that stays at its start, and whether a copy is being made."""

    def __init__(self, worker: _Worker, cost: OpeningCost, known: Sequence[str], size: int) -> None:
        self.worker = worker
        self.cost = cost
        self.known = set(known)
        """The observations that copies need not compute."""
        self.bytes = size
        self._is_coming = False

    def ask(self, names: Sequence[str] = ()) -> None:
        """Request the next copy, which will have the observations `names` in advance."""
        if not self._is_coming:
            unknown = [name for name in names if name not in self.known]
            self.worker.begin_fork(unknown)
            self.known.update(unknown)
            self._is_coming = True

    def take(self) -> _Worker | None:
        """Return a copy; None if opening the program is faster."""
        self.ask()
        if not self.worker.is_forked(min(self.cost.seconds, _PATIENCE_SECONDS)):
            return None
        self._is_coming = False
        return self.worker.end_fork()

    def end(self) -> None:
        """End the worker; a copy that was not used becomes unreachable and ends too."""
        self.worker.close()


class KeptPrograms(Generic[_Worker]):
    """The programs that the workers of one zygote keep loaded, while the zygote has users.

    An environment never sees changes that another made to a program: keys include the program
    and all arguments of the session's start. Thread-safe.
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
        """The workers that stay, the least recently used first."""
        return [program.worker for program in self._kept.values()]

    def enter(self, user: int) -> None:
        """Note that the connection with this identity uses the zygote."""
        self._users.add(user)

    def leave(self, user: int) -> None:
        """Note that the connection no longer uses the zygote; the last user drops all programs."""
        if user in self._users:
            self._users.discard(user)
            if not self._users:
                self.clear()

    def take(self, key: Hashable, worked: float = 0.0) -> _Worker | None:
        """Return a worker that has just started with `key`; None if the caller must start one.

        `worked` is the processor time of the previous episode; the next is assumed to be similar.
        """
        with self._lock:
            program = self._kept.get(key)
            if program is None:
                return None
            self._kept.move_to_end(key)
            if not program.cost.pays(worked):
                return None
            try:
                return program.take()
            except ServiceError:
                self.drop(key)
                return None

    def took(self, key: Hashable, names: Sequence[str]) -> None:
        """Request the next copy, after an episode began with the observations `names`."""
        with self._lock:
            program = self._kept.get(key)
            if program is None:
                return
            try:
                program.ask(names)
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
        """Note that `worker` has started with `key`; keep programs that were opened repeatedly."""
        if not cost.pays(0.0) or limits.kept_programs == 0:
            return
        with self._lock:
            program = self._kept.get(key)
            if program is not None:  # a copy was too slow this time
                return
            if not self._was_recent(hash(key), limits.kept_programs):
                return
            if not cost.pays(cost.worked):
                return
            try:
                worker.begin_fork(stays=True)
                copy = worker.end_fork()
            except ServiceError:  # if the worker is lost, its next step reports it
                return
            program = _KeptProgram(copy, cost, names, self._measure_bytes(copy.pid))
            if program.bytes > limits.kept_bytes:
                program.end()
                return
            self._kept[key] = program
            self._shrink(limits)
            self.took(key, ())

    def drop(self, key: Hashable) -> None:
        """Stop keeping a program."""
        with self._lock:
            program = self._kept.pop(key, None)
            if program is not None:
                program.end()

    def forget(self) -> None:
        """Drop everything that a forked child inherited: it belongs to the parent."""
        self._lock = threading.RLock()
        self._kept.clear()
        self._recent.clear()
        self._users.clear()

    def clear(self) -> None:
        """Drop all programs."""
        with self._lock:
            self._recent.clear()
            for key in list(self._kept):
                self.drop(key)

    def _was_recent(self, mark: int, most: int) -> bool:
        """Return whether a program was among the last `most` that were opened.

        Keeping more would not help: when cycling through them, each is dropped before its next use.
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
            or sum(program.bytes for program in self._kept.values()) > limits.kept_bytes
        ):
            self.drop(next(iter(self._kept)))

    def _measure_bytes(self, pid: int) -> int:
        """Return the approximate memory that the program in worker `pid` takes."""
        if self._loaded_bytes is None:
            self._loaded_bytes = _anonymous_bytes(self._zygote)
        return _PROCESS_BYTES + max(_anonymous_bytes(pid) - self._loaded_bytes, 0)


def make_key(start: Start, memory_bytes: int) -> Hashable:
    """Return a key that is equal for starts of the same session, with any observations."""
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
    """Return the anonymous memory of a process, including pages shared with its origin."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except (OSError, ValueError):  # the process has ended
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
