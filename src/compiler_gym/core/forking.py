# SPDX-License-Identifier: MIT
"""Forks of environments, and those kept at states to continue from.

Wrappers of Gymnasium cannot fork themselves. A kept environment is observed and forked, and never
stepped. If there are too many, or they use too much memory, the least recently used is closed. One
whose process was lost is dropped; its state can be reached by a replay from the nearest kept
ancestor.
"""

import copy
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import gymnasium

from compiler_gym.core.env import CompilerEnv
from compiler_gym.errors import InvalidParameterError, ServiceError


def fork_wrapped(env: Any) -> Any:
    """Return a fork of `env`: copies of Gymnasium's wrappers around a fork of the environment.

    Raises:
        InvalidParameterError: `env` is neither a `CompilerEnv` nor a wrapper around one.
        ServiceError: The worker was lost.
    """
    if isinstance(env, CompilerEnv):
        return cast("CompilerEnv", env).fork()  # `isinstance` loses the type parameters
    if not isinstance(env, gymnasium.Wrapper):
        raise InvalidParameterError(f"{type(env).__name__} cannot be forked")
    wrapper = cast("gymnasium.Wrapper[Any, Any, Any, Any]", env)
    below = fork_wrapped(wrapper.env)
    try:
        return copy.deepcopy(wrapper, _map_copies(wrapper.env, below))
    except BaseException:
        below.close()
        raise


def _map_copies(env: Any, fork: Any) -> dict[int, Any]:
    """Return the memo for `copy.deepcopy` in which `fork`, and each layer below it, is the copy of
    the same layer of `env`."""
    copies = {id(env): fork}
    if isinstance(env, gymnasium.Wrapper):
        wrapper = cast("gymnasium.Wrapper[Any, Any, Any, Any]", env)
        copies |= _map_copies(wrapper.env, fork.env)
    return copies


_K = TypeVar("_K", bound=Hashable)

_WEIGHED_EVERY = 8


class Weight:
    """An estimate of the memory of a kept process of one program; one in eight is measured."""

    def __init__(self) -> None:
        self.bytes = 0
        self._kept = 0

    def note(self, env: Any) -> None:
        """Measure `env`, which has been kept for a while, if it is the eighth."""
        self._kept += 1
        if self._kept % _WEIGHED_EVERY == 1:
            self.bytes = _own_bytes(env)


@dataclass(slots=True)
class _Kept:
    env: Any
    weight: Weight
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the environment is forked or closed."""


class KeptForks(Mapping[_K, Any]):
    """The kept environments by the key of their state. Safe to use from several threads.

    Reading an item does not count as use; `used` and `fork` do.

    Args:
        capacity: The most environments that are kept.
        memory_bytes: Approximate bound of their memory that is not shared with other processes.

    Raises:
        InvalidParameterError: A bound is below 0.
    """

    def __init__(self, capacity: int, memory_bytes: float = float("inf")) -> None:
        for name, bound in (("capacity", capacity), ("memory", memory_bytes)):
            if not bound >= 0:
                raise InvalidParameterError(
                    f"the {name} for kept processes must be at least 0 (got {bound})"
                )
        self._capacity = capacity
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[_K, _Kept] = OrderedDict()
        self._closed = False

    def __contains__(self, state: object) -> bool:
        return state in self._kept

    def __getitem__(self, state: _K) -> Any:
        return self._kept[state].env

    def __iter__(self) -> Iterator[_K]:
        return iter(list(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def has_room(self) -> bool:
        """True if at least one environment may be kept."""
        return self._capacity > 0 and self._memory_bytes > 0

    def keep(self, state: _K, env: Any, weight: Weight | None = None) -> None:
        """Keep `env`, which is at `state`, and close it when it is dropped."""
        weight = weight or Weight()
        superfluous: list[_Kept] = []
        with self._lock:
            self._weigh(weight)
            entry = _Kept(env, weight)
            if self._closed or state in self._kept:
                superfluous.append(entry)
            else:
                self._kept[state] = entry
            while self._is_too_much():
                superfluous.append(self._kept.popitem(last=False)[1])
        for extra in superfluous:
            _close(extra)

    def used(self, state: _K) -> Any | None:
        """Return the environment at `state`, to be observed; None if it is no longer kept."""
        entry = self._use(state)
        if entry is not None and not entry.env.episode.has_program:
            self.drop(state)
            return None
        return None if entry is None else entry.env

    def fork_nearest(self, states: Iterable[_K]) -> tuple[_K, Any] | None:
        """Return the first of `states` that is kept and alive, with a fork of its environment."""
        forks = ((state, env) for state in states if (env := self.fork(state)) is not None)
        return next(forks, None)

    def fork(self, state: _K) -> Any | None:
        """Return a fork of the environment at `state`; None if it is not kept or was lost."""
        entry = self._use(state)
        if entry is None:
            return None
        with entry.lock:
            try:
                if entry.env.in_episode:
                    return entry.env.fork()
            except (ServiceError, OSError):
                pass
        self.drop(state, entry)
        return None

    def drop(self, state: _K, entry: _Kept | None = None) -> None:
        """Close the environment at `state`, if one is kept."""
        with self._lock:
            if entry is None or self._kept.get(state) is entry:
                entry = self._kept.pop(state, entry)
        if entry is not None:
            _close(entry)

    def close(self) -> None:
        """Close every kept environment, and from now on every one that is given to `keep`."""
        with self._lock:
            self._closed = True
            entries = list(self._kept.values())
            self._kept.clear()
        for entry in entries:
            _close(entry)

    def _use(self, state: _K) -> _Kept | None:
        with self._lock:
            entry = self._kept.get(state)
            if entry is not None:
                self._kept.move_to_end(state)
            return entry

    def _weigh(self, weight: Weight) -> None:
        """Measure an environment kept earlier: a new process still shares its memory."""
        older = next((entry for entry in self._kept.values() if entry.weight is weight), None)
        if older is not None:
            weight.note(older.env)

    def _is_too_much(self) -> bool:
        if len(self._kept) > self._capacity:
            return True
        return sum(entry.weight.bytes for entry in self._kept.values()) > self._memory_bytes


def _close(entry: _Kept) -> None:
    with entry.lock:
        entry.env.close()


def _own_bytes(env: Any) -> int:
    """Return the bytes of memory that only the worker of `env` uses; 0 if it has no worker."""
    pid = getattr(env.episode.connection, "pid", None)
    if pid is None:
        return 0
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:  # the worker has ended
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty:")) << 10
