# SPDX-License-Identifier: MIT
"""From the actions of an episode to choices and back, without a compiler.

The worker applies actions one by one; a client that shows or reads a command line
must know where they lead.
"""

from collections.abc import Sequence
from typing import Any

from compiler_gym.envs.gcc._options import ABSENT, Option
from compiler_gym.envs.gcc.actions import (
    CATEGORICAL,
    CHOICES,
    STEPS,
    Bump,
    Set,
    apply_move,
    moves,
    values_of,
)
from compiler_gym.errors import InvalidActionError

__all__ = ["OutOfReachError", "Replay"]

_MOST_BUMPS = 2000


class OutOfReachError(InvalidActionError):
    """The actions of a space do not reach some choices, or not in a sensible number."""


class Replay:
    """Actions of one action space over the options of a compiler."""

    def __init__(self, options: Sequence[Option], action_space: str) -> None:
        self._options = options
        self._space = action_space
        self._moves = moves(options)

    def choices(self, actions: Sequence[Any]) -> tuple[list[int], str | None]:
        """Return where `actions` lead, and the option whose value is to be chosen next."""
        choices = [ABSENT] * len(self._options)
        pending: int | None = None
        for action in actions:
            if isinstance(action, list):
                choices, pending = [number - 1 for number in action], None
            elif self._space == CATEGORICAL:
                apply_move(self._options, choices, self._moves[action])
            elif pending is None:
                pending = action if action < len(self._options) else None
            elif action < len(values := values_of(self._options[pending])):
                choices[pending], pending = values[action], None
        return choices, None if pending is None else self._options[pending].name

    def actions(self, choices: Sequence[int], pending: str | None = None) -> list[Any]:
        """Return actions that lead to `choices` from the start of an episode."""
        if self._space == CHOICES:
            return [[choice + 1 for choice in choices]] if any(c >= 0 for c in choices) else []
        chosen = [(at, choice) for at, choice in enumerate(choices) if choice != ABSENT]
        if self._space == CATEGORICAL:
            return [number for at, choice in chosen for number in self._bumps_to(at, choice)]
        found = [n for at, choice in chosen for n in (at, self._value(at, choice))]
        return found if pending is None else [*found, self.number(pending)]

    def number(self, name: str) -> int:
        """Return the number of the option called `name`."""
        for number, option in enumerate(self._options):
            if option.name == name:
                return number
        raise InvalidActionError(f"no option is called {name!r}: see env.gcc_spec.options")

    def _value(self, at: int, choice: int) -> int:
        values = values_of(self._options[at])
        if choice not in values:
            raise OutOfReachError(
                f"{self._options[at][choice]} is not among the values that OptionThenValue offers"
            )
        return values.index(choice)

    def _bumps_to(self, at: int, choice: int) -> list[int]:
        numbers = {move: number for number, move in enumerate(self._moves)}
        if Set(at, choice) in numbers:
            return [numbers[Set(at, choice)]]
        option = self._options[at]
        start = getattr(option, "start", 0)
        steps = [step for step in STEPS if Bump(at, step) in numbers]
        found: list[int] = []
        if choice == start:  # up and down again: the compiler's own number, but stated
            steps_to = [1, -1] if start + 1 < len(option) else [-1, 1]
            return [numbers[Bump(at, step)] for step in steps_to]
        sign, left = (1, choice - start) if choice > start else (-1, start - choice)
        for step in reversed(steps):
            count, left = divmod(left, step)
            if len(found) + count > _MOST_BUMPS:
                raise OutOfReachError(
                    f"{option[choice]} is too far from {option[start]} to count to: set env.choices"
                )
            found += [numbers[Bump(at, sign * step)]] * count
        return found
