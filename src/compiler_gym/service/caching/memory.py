# SPDX-License-Identifier: MIT
"""Known states in memory: the ones used longest ago make room for others."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

__all__ = ["Memory", "Transition"]

_ENTRY_BYTES = 500
"""About what a state costs beyond its observations."""
_TRANSITION_BYTES = 250


class Transition(NamedTuple):
    """What an action does to a state."""

    state: bytes
    """The state it leads to."""
    no_effect: bool
    """What the session said of it."""
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
        """About how many bytes are held."""

    def __len__(self) -> int:
        return len(self._states)

    def transition(self, state: bytes, action: Any) -> Transition | None:
        """Return what is known of `action` in `state`."""
        known = self._states.get(state)
        if known is None:
            return None
        self._states.move_to_end(state)
        return known.transitions.get(action)

    def observations(self, state: bytes) -> dict[str, Any]:
        """Return what was observed in `state`, by name; not to be changed."""
        known = self._states.get(state)
        return {} if known is None else known.observations

    def add_transition(self, state: bytes, action: Any, transition: Transition) -> None:
        """Remember a transition."""
        known = self._state(state)
        if action not in known.transitions:
            self._grow(known, _TRANSITION_BYTES)
        known.transitions[action] = transition
        self._shrink()

    def add_observation(self, state: bytes, name: str, value: Any) -> None:
        """Remember an observation."""
        known = self._state(state)
        if name not in known.observations:
            self._grow(known, estimate_size(value))
            known.observations[name] = value
            self._shrink()

    def _state(self, state: bytes) -> _State:
        known = self._states.get(state)
        if known is None:
            known = self._states[state] = _State()
            self.size += known.size
        else:
            self._states.move_to_end(state)
        return known

    def _grow(self, known: _State, size: int) -> None:
        known.size += size
        self.size += size

    def _shrink(self) -> None:
        while self.size > self._capacity and self._states:
            self.size -= self._states.popitem(last=False)[1].size


def estimate_size(value: Any) -> int:
    """Return about how many bytes a plain value takes.

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
