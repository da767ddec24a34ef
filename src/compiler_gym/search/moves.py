# SPDX-License-Identifier: MIT
"""The actions a search chooses from, as numbers from zero, whatever the action space is."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import gymnasium

from compiler_gym.search.known import level_sequences
from compiler_gym.search.strategy import MoveSequence
from compiler_gym.spaces import action_names

__all__ = ["Moves"]

_SAMPLES = 256
_FIRST_GROUP = 1 << 40
"""Beyond the numbers of all actions, where those depend on the program."""


class Moves:
    """A fixed list of actions.

    A discrete space is taken whole. Of any other space 256 members are drawn once,
    from `seed`: the search then combines those. Where the actions are settings, several
    of them can be packed into one move, so that what they make together is compiled once.
    """

    def __init__(self, space: gymnasium.Space[Any], *, seed: int) -> None:
        self._names: Sequence[str] = tuple(action_names(space))
        self._actions: Sequence[Any]
        # Where actions depend on the program, the first ones do not, and all can be named.
        dense: int | None = getattr(space, "dense", None)
        self._name_of: Callable[[int], str] | None = None
        if dense is not None:
            self._actions, self._names = range(dense), self._names[:dense]
            self._name_of = getattr(space, "name_of", None)
        elif isinstance(space, gymnasium.spaces.Discrete):
            self._actions = range(int(space.start), int(space.start) + int(space.n))
        else:
            space.seed(seed)
            self._actions = [space.sample() for _ in range(_SAMPLES)]
        self.sets: tuple[int, ...] = tuple(getattr(space, "sets", ()))
        """The number of the option that each action sets; empty where actions are steps."""
        self.levels = frozenset(level for (level,) in level_sequences(self._names))
        """The standard levels, which take as long as all of a compiler."""
        self.depend_on_program = dense is not None
        """Whether there are further actions, whose numbers stand for themselves."""
        self._first_group = _FIRST_GROUP if self.depend_on_program else len(self._actions)
        self._groups: list[MoveSequence] = []
        self._group_of: dict[MoveSequence, int] = {}

    def __len__(self) -> int:
        return len(self._actions)

    def pack(self, moves: Sequence[int]) -> MoveSequence:
        """Return `moves` as one move, if they are settings; otherwise as they are.

        Decisions that follow one another become one too.
        """
        flat = self.flat(moves)
        if self.sets:
            return self._group(flat)
        if not self.depend_on_program:
            return flat
        size = len(self)
        runs = [tuple(run) for _, run in groupby(flat, key=lambda move: move >= size)]
        return tuple(m for run in runs for m in (self._group(run) if run[0] >= size else run))

    def _group(self, flat: MoveSequence) -> MoveSequence:
        if len(flat) < 2:
            return flat
        if flat not in self._group_of:
            self._group_of[flat] = self._first_group + len(self._groups)
            self._groups.append(flat)
        return (self._group_of[flat],)

    def flat(self, moves: Sequence[int]) -> MoveSequence:
        """Return `moves` as single actions."""
        first = self._first_group
        return tuple(
            single
            for move in moves
            for single in (self._groups[move - first] if move >= first else (move,))
        )

    def action(self, move: int) -> Any:
        """Return what the environment's ``step`` takes for `move`, a single action."""
        return self._actions[move] if move < len(self) else move

    def actions(self, moves: Sequence[int]) -> list[Any]:
        """Return what the environment's ``multistep`` takes for `moves`."""
        return [self.action(move) for move in self.flat(moves)]

    def name(self, move: int) -> str:
        """Return the name of the action, or how it is written; of several, in a row."""
        if move >= self._first_group:
            return " ".join(map(self.name, self.flat([move])))
        if self._name_of is not None:
            return self._name_of(move)
        return self._names[move] if self._names else str(self._actions[move])
