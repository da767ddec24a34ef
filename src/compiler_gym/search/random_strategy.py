# SPDX-License-Identifier: MIT
"""Random search: sequences of random actions; the best prefix of each counts."""

import random
from collections.abc import Sequence

from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk

__all__ = ["RandomSearch"]

_RANDOM_BATCH = 8


class RandomSearch:
    """Try the known sequences, then random ones until the budget is spent."""

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._every = moves.every
        self._waiting = list(moves.starts)

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next sequences."""
        batch, self._waiting = self._waiting, []
        return batch or [self._sequence() for _ in range(_RANDOM_BATCH)]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore the sequence."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Learn nothing."""

    def _sequence(self) -> MoveSequence:
        length = self._random.randint(1, self._moves.longest)
        return tuple(self._random.choice(self._every) for _ in range(length))
