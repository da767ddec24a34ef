# SPDX-License-Identifier: MIT
"""Copies of wrappers; forks, deep copies, pickles and undo all follow the same rules.

``__getstate__`` of a wrapper returns its attributes, and Python's own protocol copies them: an
object that forks share returns itself from ``__deepcopy__``, and one with an open file omits the
file from its ``__getstate__``. Undoing a step restores a copy of every attribute that is not
`Lasting`.
"""

import copy
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar, cast

import gymnasium

from compiler_gym.core import CompilerEnv
from compiler_gym.wrappers._below import Environment, Layer

__all__ = ["Lasting", "MadeSpace", "Marks", "Shared", "State", "copy_attributes"]

State = dict[str, Any]
"""Attributes by name."""
_Value = TypeVar("_Value")


class Lasting:
    """A base class of attributes that do not depend on the step, so that undo does not restore
    them."""


@dataclass(slots=True)
class Shared(Lasting, Generic[_Value]):
    """A value that a wrapper and its forks share."""

    value: _Value

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class MadeSpace(Lasting):
    """A space of a wrapper, and the space below from which it was built."""

    of: gymnasium.Space[Any] | None
    space: gymnasium.Space[Any]


def copy_attributes(state: State, wrapper: Layer, twin: Layer, below: Environment) -> State:
    """Return a copy of the attributes of `wrapper` for `twin`, whose environment is `below`."""
    # With both in the memo, references to either become references to its copy.
    return copy.deepcopy(state, {id(wrapper): twin, id(wrapper.env): below})


@dataclass(slots=True)
class Marks(Lasting):
    """The attributes of a wrapper before each step that can be undone, by the step's number."""

    _by_depth: dict[int, list[State]] = field(default_factory=dict[int, list[State]])

    @staticmethod
    def of(wrapper: Layer) -> list[State]:
        """Return copies of the attributes of `wrapper` and of the Gymnasium wrappers below it."""
        return [_copy_state(layer) for layer in _layers(wrapper)]

    def keep(self, depth: int, mark: list[State]) -> None:
        """Keep the attributes of the time when `depth` steps could be undone."""
        self._by_depth[depth] = mark

    def forget(self, depth: int = 0) -> None:
        """Drop the attributes for steps that cannot be undone any more: all from `depth`."""
        self._by_depth = {d: mark for d, mark in self._by_depth.items() if d < depth}

    def restore(self, depth: int, wrapper: Layer) -> None:
        """Restore the attributes of `wrapper` at the time when `depth` steps could be undone."""
        mark = self._by_depth.get(depth)
        if mark is None:
            return
        for layer, state in zip(_layers(wrapper), mark, strict=True):
            vars(layer).update(state)
        self.forget(depth)


def _layers(wrapper: Layer) -> list[Layer]:
    layers = [wrapper]
    while not isinstance(layers[-1].env, CompilerEnv):
        layers.append(cast(Layer, layers[-1].env))
    return layers


def _copy_state(layer: Layer) -> State:
    """Return a copy of the attributes of `layer` that undo restores."""
    is_own = isinstance(layer, CompilerEnv)
    state = cast(State, layer.__getstate__() if is_own else vars(layer))
    changing = {
        name: value
        for name, value in state.items()
        if name not in _COMMON and not isinstance(value, Lasting)
    }
    return copy_attributes(changing, layer, layer, layer.env)


_COMMON = frozenset(vars(Layer(Environment())))
"""The attributes of every Gymnasium wrapper: the environment below, and spaces."""
