# SPDX-License-Identifier: MIT
"""What a copy of a wrapper holds: forks, deep copies, pickles and undone steps ask the same.

A wrapper's ``__getstate__`` says what it holds, and Python's own protocol copies that: an
object that forks have in common returns itself from ``__deepcopy__``, one with an open file
leaves it out of its ``__getstate__``. What goes back when a step is undone is a copy too, of
all but what is `Lasting`.
"""

import copy
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar, cast

import gymnasium

from compiler_gym.core import CompilerEnv
from compiler_gym.wrappers._below import Environment, Layer

__all__ = ["Lasting", "MadeSpace", "Marks", "Shared", "State", "copied"]

State = dict[str, Any]
"""Attributes by name."""
_Value = TypeVar("_Value")


class Lasting:
    """What a wrapper holds and an undone step leaves as it is: what is true of all steps, or
    belongs to none. Derive from it."""


@dataclass(slots=True)
class Shared(Lasting, Generic[_Value]):
    """A fact that a wrapper and its forks have in common."""

    value: _Value

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class MadeSpace(Lasting):
    """A wrapper's space, and the one below that it was made of: of another it is made anew."""

    of: gymnasium.Space[Any] | None
    space: gymnasium.Space[Any]


def copied(state: State, wrapper: Layer, twin: Layer, below: Environment) -> State:
    """Return a copy of the `state` of `wrapper` for `twin`, which is around `below`."""
    # The memo knows the copies of both: what refers to one of them refers to its copy.
    return copy.deepcopy(state, {id(wrapper): twin, id(wrapper.env): below})


@dataclass(slots=True)
class Marks(Lasting):
    """What a wrapper held before each step that can be undone, by how many were before it."""

    _by_depth: dict[int, list[State]] = field(default_factory=dict[int, list[State]])

    @staticmethod
    def of(wrapper: Layer) -> list[State]:
        """Return a copy of what `wrapper` holds, and those of Gymnasium's right below it."""
        return [_held(layer) for layer in _layers(wrapper)]

    def keep(self, depth: int, mark: list[State]) -> None:
        """Keep what was held when there were `depth` steps to undo."""
        self._by_depth[depth] = mark

    def forget(self, depth: int = 0) -> None:
        """Forget what was held before steps that `depth` undoable ones do not include."""
        self._by_depth = {at: mark for at, mark in self._by_depth.items() if at < depth}

    def restore(self, depth: int, wrapper: Layer) -> None:
        """Give `wrapper` what it held when there were `depth` steps to undo."""
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


def _held(layer: Layer) -> State:
    """Return a copy of all that `layer` holds and an undone step changes."""
    ours = isinstance(layer, CompilerEnv)
    state = cast(State, layer.__getstate__() if ours else vars(layer))
    changing = {
        name: value
        for name, value in state.items()
        if name not in _EVERYONES and not isinstance(value, Lasting)
    }
    return copied(changing, layer, layer, layer.env)


_EVERYONES = frozenset(vars(Layer(Environment())))
"""What every wrapper of Gymnasium holds: what is below, and its spaces."""
