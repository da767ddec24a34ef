# SPDX-License-Identifier: MIT
"""The action spaces: three ways to choose settings of a compiler's options.

``Categorical`` sets or bumps one option at a time, ``Choices`` sets all options at once, and
``OptionThenValue`` chooses an option and then its value. All of them change the same choices; none
compiles anything. `Replay` converts actions to choices and back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from compiler_gym.errors import InvalidActionError
from compiler_gym.session import (
    ActionSpaceSpec,
    CommandlineSpec,
    DiscreteSpec,
    FlagSpec,
    MultiDiscreteSpec,
    PartSpec,
)
from compiler_gym_gcc.actions.options import ABSENT, Option

__all__ = [
    "CATEGORICAL",
    "CHOICES",
    "OPTION_THEN_VALUE",
    "Bump",
    "OutOfReachError",
    "Replay",
    "Set",
    "action_spaces",
    "apply_move",
    "count_actions",
    "list_values",
    "moves",
]

CATEGORICAL, CHOICES, OPTION_THEN_VALUE = "Categorical", "Choices", "OptionThenValue"

SMALL = 10
"""The most settings of an option that is set directly; options with more are bumped."""

STEPS = (1, 10, 100, 1000)

_MOST_BUMPS = 2000


@dataclass(frozen=True, slots=True)
class Set:
    """Choose the setting `index` of an option; -1 restores the compiler's default."""

    option: int
    index: int


@dataclass(frozen=True, slots=True)
class Bump:
    """Count an option's number up or down, starting from the compiler's default.

    Counting up stops at the largest number; counting down from the smallest restores the default.
    """

    option: int
    step: int


def moves(options: Sequence[Option]) -> tuple[Set | Bump, ...]:
    """Return the move of each categorical action, in order."""
    moves: list[Set | Bump] = []
    for at, option in enumerate(options):
        if len(option) <= SMALL:
            moves += [Set(at, index) for index in (*range(len(option)), ABSENT)]
        else:
            steps = [step for step in STEPS if step < len(option)]
            moves += [Bump(at, sign * step) for step in steps for sign in (1, -1)]
    return tuple(moves)


def apply_move(options: Sequence[Option], choices: list[int], move: Set | Bump) -> bool:
    """Apply `move` to `choices` and return whether that changed anything."""
    before = choices[move.option]
    if isinstance(move, Set):
        choices[move.option] = move.index
    else:
        choices[move.option] = _bump(options[move.option], before, move.step)
    return choices[move.option] != before


def list_values(option: Option) -> tuple[int, ...]:
    """Return the choices that `OptionThenValue` offers for an option: first, the default."""
    return (ABSENT, *option.candidates())


def count_actions(options: Sequence[Option]) -> int:
    """Return the number of actions of `OptionThenValue`: one for each option or value."""
    return max(len(options), max((len(list_values(option)) for option in options), default=1))


def action_spaces(options: Sequence[Option]) -> tuple[ActionSpaceSpec, ...]:
    """Return the action spaces of a compiler with these options."""
    items = tuple(_flag_spec(options, move) for move in moves(options))
    return (
        ActionSpaceSpec(
            CATEGORICAL,
            CommandlineSpec(items),
            f"Set an option with up to {SMALL} settings, or bump another by 1, 10, 100 or 1000",
            sets=tuple(move.option for move in moves(options)),
        ),
        ActionSpaceSpec(
            CHOICES,
            MultiDiscreteSpec(
                tuple(len(option) + 1 for option in options),
                parts=tuple(_part(option) for option in options),
            ),
            "Every option at once: 0 is the compiler's default, n is setting number n - 1",
        ),
        ActionSpaceSpec(
            OPTION_THEN_VALUE,
            DiscreteSpec(count_actions(options)),
            "The number of an option, then that of a value; `action_mask` marks the valid ones",
        ),
    )


class OutOfReachError(InvalidActionError):
    """The actions of a space cannot reach some choices, or only with too many actions."""


class Replay:
    """Actions of one action space over the options of a compiler.

    The worker applies actions one by one; clients use this class to write and read command lines.
    """

    def __init__(self, options: Sequence[Option], action_space: str) -> None:
        self._options = options
        self._space = action_space
        self._moves = moves(options)

    def choices(self, actions: Sequence[Any]) -> tuple[list[int], str | None]:
        """Return the choices after `actions`, and the option whose value is pending, if any."""
        choices = [ABSENT] * len(self._options)
        pending: int | None = None
        for action in actions:
            if isinstance(action, list):
                choices, pending = [number - 1 for number in cast("list[int]", action)], None
            elif self._space == CATEGORICAL:
                apply_move(self._options, choices, self._moves[cast("int", action)])
            elif pending is None:
                pending = action if action < len(self._options) else None
            elif action < len(values := list_values(self._options[pending])):
                choices[pending], pending = values[action], None
        return choices, None if pending is None else self._options[pending].name

    def actions(self, choices: Sequence[int], pending: str | None = None) -> list[Any]:
        """Return actions that lead to `choices` from the start of an episode."""
        if self._space == CHOICES:
            return [[choice + 1 for choice in choices]] if any(c >= 0 for c in choices) else []
        changes = [(at, choice) for at, choice in enumerate(choices) if choice != ABSENT]
        if self._space == CATEGORICAL:
            return [number for at, choice in changes for number in self._bumps_to(at, choice)]
        actions = [n for at, choice in changes for n in (at, self._value(at, choice))]
        return actions if pending is None else [*actions, self.number(pending)]

    def number(self, name: str) -> int:
        """Return the number of the option `name`."""
        for number, option in enumerate(self._options):
            if option.name == name:
                return number
        raise InvalidActionError(f"no option {name!r}; env.gcc_spec.options lists all")

    def _value(self, at: int, choice: int) -> int:
        values = list_values(self._options[at])
        if choice not in values:
            raise OutOfReachError(
                f"OptionThenValue does not offer {self._options[at][choice]}; set env.choices"
            )
        return values.index(choice)

    def _bumps_to(self, at: int, choice: int) -> list[int]:
        numbers = {move: number for number, move in enumerate(self._moves)}
        if Set(at, choice) in numbers:
            return [numbers[Set(at, choice)]]
        option = self._options[at]
        start = getattr(option, "start", 0)
        steps = [step for step in STEPS if Bump(at, step) in numbers]
        actions: list[int] = []
        if choice == start:  # up and down again, to set the compiler's default explicitly
            steps_to = [1, -1] if start + 1 < len(option) else [-1, 1]
            return [numbers[Bump(at, step)] for step in steps_to]
        sign, distance = (1, choice - start) if choice > start else (-1, start - choice)
        for step in reversed(steps):
            count, distance = divmod(distance, step)
            if len(actions) + count > _MOST_BUMPS:
                raise OutOfReachError(
                    f"counting from {option[start]} to {option[choice]} takes too many actions; "
                    "set env.choices"
                )
            actions += [numbers[Bump(at, sign * step)]] * count
        return actions


def _bump(option: Option, choice: int, step: int) -> int:
    start = getattr(option, "start", 0) if choice == ABSENT else choice
    if step < 0 and choice == 0:
        return ABSENT
    return min(max(start + step, 0), len(option) - 1)


def _part(option: Option) -> PartSpec:
    count = len(option)
    shown = ", ".join(option) if count <= SMALL else f"{option[0]}, ..., {option[count - 1]}"
    return PartSpec(option.name, shown, f"{count} settings")


def _flag_spec(options: Sequence[Option], move: Set | Bump) -> FlagSpec:
    option = options[move.option]
    if isinstance(move, Bump):
        text = f"{option.name}{move.step:+}"
        return FlagSpec(text, text, f"Add {move.step} to {option.name.rstrip('=')}")
    if move.index == ABSENT:
        text = f"unset:{option.name}"
        return FlagSpec(text, text, f"Restore the default of {option.name.rstrip('=')}")
    text = option[move.index]
    return FlagSpec(text, text, f"Set {text}")
