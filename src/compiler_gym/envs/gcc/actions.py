# SPDX-License-Identifier: MIT
"""What can be done: three ways to choose settings, made from the options of a compiler.

``Categorical`` sets or bumps one option at a time, ``Choices`` sets all of them at
once, ``OptionThenValue`` chooses an option and then its value. Each changes the
same choices; none compiles anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from compiler_gym.envs.gcc._options import ABSENT, Option
from compiler_gym.session import (
    ActionSpaceSpec,
    CommandlineSpec,
    DiscreteSpec,
    FlagSpec,
    MultiDiscreteSpec,
)

__all__ = [
    "CATEGORICAL",
    "CHOICES",
    "OPTION_THEN_VALUE",
    "Bump",
    "Set",
    "action_spaces",
    "apply_move",
    "moves",
    "values_of",
]

CATEGORICAL, CHOICES, OPTION_THEN_VALUE = "Categorical", "Choices", "OptionThenValue"

SMALL = 10
"""Options with up to this many settings are set directly, larger ones are bumped."""

STEPS = (1, 10, 100, 1000)


@dataclass(frozen=True, slots=True)
class Set:
    """Choose the setting `index` of an option; -1 leaves it to the compiler."""

    option: int
    index: int


@dataclass(frozen=True, slots=True)
class Bump:
    """Count an option's number up or down from what the compiler would do.

    Up ends at the largest number; down from the smallest leaves it to the compiler.
    """

    option: int
    step: int


def moves(options: Sequence[Option]) -> tuple[Set | Bump, ...]:
    """Return what each categorical action does, in order."""
    found: list[Set | Bump] = []
    for at, option in enumerate(options):
        if len(option) <= SMALL:
            found += [Set(at, index) for index in (*range(len(option)), ABSENT)]
        else:
            steps = [step for step in STEPS if step < len(option)]
            found += [Bump(at, sign * step) for step in steps for sign in (1, -1)]
    return tuple(found)


def apply_move(options: Sequence[Option], choices: list[int], move: Set | Bump) -> bool:
    """Change `choices` by `move` and return whether that changed anything."""
    before = choices[move.option]
    if isinstance(move, Set):
        choices[move.option] = move.index
    else:
        choices[move.option] = _bumped(options[move.option], before, move.step)
    return choices[move.option] != before


def values_of(option: Option) -> tuple[int, ...]:
    """Return the choices that `OptionThenValue` offers for an option: none first."""
    return (ABSENT, *option.candidates())


def action_spaces(options: Sequence[Option]) -> tuple[ActionSpaceSpec, ...]:
    """Return the action spaces of a compiler with these options."""
    items = tuple(_flag(options, move) for move in moves(options))
    widest = max((len(values_of(option)) for option in options), default=1)
    return (
        ActionSpaceSpec(
            CATEGORICAL,
            CommandlineSpec(items),
            f"Set an option that has up to {SMALL} settings, bump another by 1, 10, 100 or 1000",
        ),
        ActionSpaceSpec(
            CHOICES,
            MultiDiscreteSpec(tuple(len(option) + 1 for option in options)),
            "Every option at once: 0 leaves it to the compiler, n is its setting number n - 1",
        ),
        ActionSpaceSpec(
            OPTION_THEN_VALUE,
            DiscreteSpec(max(len(options), widest)),
            "The number of an option, then that of a value; `action_mask` says which there are",
        ),
    )


def _bumped(option: Option, choice: int, step: int) -> int:
    start = getattr(option, "start", 0) if choice == ABSENT else choice
    if step < 0 and choice == 0:
        return ABSENT
    return min(max(start + step, 0), len(option) - 1)


def _flag(options: Sequence[Option], move: Set | Bump) -> FlagSpec:
    option = options[move.option]
    if isinstance(move, Bump):
        text = f"{option.name}{move.step:+}"
        return FlagSpec(text, text, f"Add {move.step} to {option.name.rstrip('=')}")
    if move.index == ABSENT:
        text = f"unset:{option.name}"
        return FlagSpec(text, text, f"Leave {option.name.rstrip('=')} to the compiler")
    text = option[move.index]
    return FlagSpec(text, text, f"Set {text}")
