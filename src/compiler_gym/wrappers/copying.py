# SPDX-License-Identifier: MIT
"""Copies of wrappers: forks, deep copies, pickles and undone steps all use the same rules.

``__getstate__`` of a wrapper returns its attributes, and Python's own protocol copies them: an
object that forks share returns itself from ``__deepcopy__``, one with an open file leaves the file
out of its ``__getstate__``. Undoing a step restores a copy of every attribute that is not
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
    """Base class of attributes that undoing a step does not restore, because they do not depend on
    the step."""


@dataclass(slots=True)
class Shared(Lasting, Generic[_Value]):
    """A value that a wrapper and its forks share."""

    value: _Value

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class MadeSpace(Lasting):
    """A space of a wrapper, and the space below from which it was made."""

    of: gymnasium.Space[Any] | None
    space: gymnasium.Space[Any]


def copy_attributes(state: State, wrapper: Layer, twin: Layer, below: Environment) -> State:
    """Return a copy of the attributes of `wrapper` for `twin`, whose environment is `below`."""
    # The memo knows the copies of both: what refers to one of them refers to its copy.
    return copy.deepcopy(state, {id(wrapper): twin, id(wrapper.env): below})


@dataclass(slots=True)
class Marks(Lasting):
    """The attributes of a wrapper before each step that can be undone, by the step's number."""

    _by_depth: dict[int, list[State]] = field(default_factory=dict[int, list[State]])

    @staticmethod
    def of(wrapper: Layer) -> list[State]:
        """Return copies of the attributes of `wrapper` and of Gymnasium's wrappers below it."""
        return [_hold(layer) for layer in _layers(wrapper)]

    def keep(self, depth: int, mark: list[State]) -> None:
        """Keep the attributes from when `depth` steps could be undone."""
        self._by_depth[depth] = mark

    def forget(self, depth: int = 0) -> None:
        """Forget the attributes from before steps that can no longer be undone: `depth` can."""
        self._by_depth = {at: mark for at, mark in self._by_depth.items() if at < depth}

    def restore(self, depth: int, wrapper: Layer) -> None:
        """Restore the attributes of `wrapper` from when `depth` steps could be undone."""
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


def _hold(layer: Layer) -> State:
    """Return a copy of the attributes of `layer` that undoing a step restores."""
    ours = isinstance(layer, CompilerEnv)
    state = cast(State, layer.__getstate__() if ours else vars(layer))
    changing = {
        name: value
        for name, value in state.items()
        if name not in _EVERYONES and not isinstance(value, Lasting)
    }
    return copy_attributes(changing, layer, layer, layer.env)


_EVERYONES = frozenset(vars(Layer(Environment())))
"""The attributes of every wrapper of Gymnasium: the environment below, and spaces."""
