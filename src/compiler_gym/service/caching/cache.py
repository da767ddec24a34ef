# SPDX-License-Identifier: MIT
"""A cache of the results of actions: in memory, and in a file that processes share."""

import os
import threading
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from compiler_gym.service.caching.states import Disk, Memory, Transition


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """The hits, misses and size of a cache."""

    hits: int = 0
    """Actions whose result was known."""
    misses: int = 0
    """Actions that a compiler had to apply."""
    states: int = 0
    """States in memory."""
    bytes: int = 0
    """Approximate memory that they take, in bytes."""

    @property
    def hit_rate(self) -> float:
        """The share of actions whose result was known, from 0 to 1."""
        total = self.hits + self.misses
        return self.hits / total if total else 0.0


class TranspositionCache:
    """Remember the result of every action on every program state.

    A state is identified by the hash of the compiler's program text and by its origin: the
    program of the reset, its address and parameters, how it is run, the action space, the
    limits and the compiler's version. Results from the cache are therefore exact.

    Several environments of one process can share a cache; several processes share its file if
    they use the same `path`. `capacity_bytes` bounds the memory: the least recently used
    states are dropped first. `disk_bytes` bounds the file and its log together: the oldest rows
    are dropped first. The cache is thread-safe.

    New results are written by `flush` and `close`, when the cache is collected, when the
    interpreter exits, and otherwise about once a second.

        >>> import compiler_gym
        >>> cache = TranspositionCache()
        >>> with compiler_gym.make("llvm-ic-v0", cache=cache) as env:
        ...     for _ in range(2):
        ...         _ = env.reset(); _ = env.step(0)
        >>> cache.statistics.hit_rate
        0.5
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        capacity_bytes: int = 256 << 20,
        disk_bytes: int = 4 << 30,
    ) -> None:
        self.path = None if path is None else Path(path).expanduser()
        """The file; None if the cache is in memory only."""
        self._arguments = (capacity_bytes, disk_bytes)
        self._memory = Memory(capacity_bytes)
        self._disk = None if self.path is None else Disk(self.path, disk_bytes)
        self._lock = threading.RLock()
        self._hits = self._misses = 0
        self._write_at_exit()
        _caches.add(self)

    @property
    def statistics(self) -> CacheStatistics:
        """The counts of this process so far."""
        with self._lock:
            return CacheStatistics(self._hits, self._misses, len(self._memory), self._memory.size)

    def follow(self, state: bytes, actions: Sequence[object]) -> tuple[list[Transition], bytes]:
        """Return the known transitions from `state`, up to an unknown one or an end."""
        transitions: list[Transition] = []
        with self._lock:
            for action in actions:
                transition = self._transition(state, action)
                if transition is None:
                    break
                transitions.append(transition)
                state = transition.state
                if transition.end:
                    break
        return transitions, state

    def observe(self, state: bytes, names: Iterable[str]) -> list[Any] | None:
        """Return the observations of `state`, or None if any of them is unknown."""
        with self._lock:
            observations = self._memory.observations(state)
            values: list[Any] = []
            for name in names:
                if name in observations:
                    values.append(observations[name])
                    continue
                stored = self._disk.observation(state, name) if self._disk else None
                if stored is None:
                    return None
                self._memory.add_observation(state, name, stored[0])
                values.append(stored[0])
            return values

    def count(self, *, hits: int = 0, misses: int = 0) -> None:
        """Add to the statistics."""
        with self._lock:
            self._hits += hits
            self._misses += misses

    def learn(self, state: bytes, action: object, transition: Transition) -> None:
        """Remember a transition."""
        with self._lock:
            self._memory.add_transition(state, action, transition)
            if self._disk is not None:
                self._disk.add_transition(state, action, transition)

    def learn_observations(self, state: bytes, values: Iterable[tuple[str, Any]]) -> None:
        """Remember observations by name."""
        with self._lock:
            observations = self._memory.observations(state)
            for name, value in values:
                if name not in observations:
                    self._memory.add_observation(state, name, value)
                    if self._disk is not None:
                        self._disk.add_observation(state, name, value)

    def flush(self) -> None:
        """Write pending results, so that other processes see them."""
        with self._lock:
            if self._disk is not None:
                self._disk.flush()

    def close(self) -> None:
        """Write pending results and close the file; the memory can still be used."""
        with self._lock:
            self._at_exit.detach()
            disk, self._disk = self._disk, None
            if disk is not None:
                disk.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self  # caches are shared on purpose

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the path, not the contents: another process starts from the file."""
        return _open, (type(self), self.path, *self._arguments)

    def _write_at_exit(self) -> None:
        disk = self._disk
        self._at_exit = weakref.finalize(self, _close_disk, disk, self._lock)

    def after_fork(self) -> None:
        """Give up pending rows, which the parent still has, and create a new lock."""
        self._lock = threading.RLock()
        self._at_exit.detach()
        if self._disk is not None:
            self._disk.after_fork()
            self._write_at_exit()

    def _transition(self, state: bytes, action: object) -> Transition | None:
        transition = self._memory.transition(state, action)
        if transition is None and self._disk is not None:
            transition = self._disk.transition(state, action)
            if transition is not None:
                self._memory.add_transition(state, action, transition)
        return transition


def _close_disk(disk: Disk | None, lock: threading.RLock) -> None:
    if disk is not None:
        with lock:
            disk.close()


def _open(
    cls: type[TranspositionCache], path: Path | None, capacity_bytes: int, disk_bytes: int
) -> TranspositionCache:
    return cls(path, capacity_bytes=capacity_bytes, disk_bytes=disk_bytes)


_caches: weakref.WeakSet[TranspositionCache] = weakref.WeakSet()


def _after_fork() -> None:
    for cache in list(_caches):
        cache.after_fork()


os.register_at_fork(after_in_child=_after_fork)
