# SPDX-License-Identifier: MIT
"""Known states in memory: the least recently used ones make room for new ones."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

_ENTRY_BYTES = 500
"""Approximate size of a state without its observations."""
_TRANSITION_BYTES = 250


class Transition(NamedTuple):
    """The effect of an action on a state."""

    state: bytes
    """The resulting state."""
    no_effect: bool
    """True if the session reported that the action had no effect."""
    end: bool
    """True if it ends the episode."""


@dataclass(slots=True)
class _State:
    transitions: dict[Any, Transition] = field(default_factory=dict[Any, Transition])
    observations: dict[str, Any] = field(default_factory=dict[str, Any])
    size: int = _ENTRY_BYTES


class Memory:
    """States with their transitions and observations, up to about `capacity` bytes."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._states: OrderedDict[bytes, _State] = OrderedDict()
        self.size = 0
        """Approximate number of bytes held."""

    def __len__(self) -> int:
        return len(self._states)

    def transition(self, state: bytes, action: Any) -> Transition | None:
        """Return the known transition of `action` in `state`, or None."""
        entry = self._states.get(state)
        if entry is None:
            return None
        self._states.move_to_end(state)
        return entry.transitions.get(action)

    def observations(self, state: bytes) -> dict[str, Any]:
        """Return the known observations of `state` by name; do not modify the result."""
        entry = self._states.get(state)
        return {} if entry is None else entry.observations

    def add_transition(self, state: bytes, action: Any, transition: Transition) -> None:
        """Remember a transition."""
        entry = self._state(state)
        if action not in entry.transitions:
            self._grow(entry, _TRANSITION_BYTES)
        entry.transitions[action] = transition
        self._shrink()

    def add_observation(self, state: bytes, name: str, value: Any) -> None:
        """Remember an observation."""
        entry = self._state(state)
        if name not in entry.observations:
            self._grow(entry, estimate_size(value))
            entry.observations[name] = value
            self._shrink()

    def _state(self, state: bytes) -> _State:
        entry = self._states.get(state)
        if entry is None:
            entry = self._states[state] = _State()
            self.size += entry.size
        else:
            self._states.move_to_end(state)
        return entry

    def _grow(self, entry: _State, size: int) -> None:
        entry.size += size
        self.size += size

    def _shrink(self) -> None:
        while self.size > self._capacity and self._states:
            self.size -= self._states.popitem(last=False)[1].size


def estimate_size(value: Any) -> int:
    """Return the approximate size of a plain value in bytes.

    >>> estimate_size(b"x" * 1000) > estimate_size(1)
    True
    """
    if isinstance(value, (bytes, str)):
        return 100 + len(value)
    if isinstance(value, dict):
        return 100 + sum(
            100 + estimate_size(item) for item in cast("dict[str, Any]", value).values()
        )
    if isinstance(value, (list, tuple)):
        return 100 + sum(map(estimate_size, cast("list[Any]", value)))
    return 100
