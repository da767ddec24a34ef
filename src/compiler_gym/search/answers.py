# SPDX-License-Identifier: MIT
"""Search over the answers to a compiler's questions: change a few of its own answers.

A proposal is a whole episode, compiled once: answers to the first questions, then the action that
leaves the rest to the compiler. The program in the middle of a proposal is not a result.
"""

import random
from collections.abc import Sequence

from compiler_gym.search.settings import SettingsSearch
from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk

__all__ = ["AnswerSearch"]

_MOST_QUESTIONS = 4096
"""Later questions are always left to the compiler."""
_OWN_ANSWER = 0
"""The first action is the compiler's own answer."""


class AnswerSearch(SettingsSearch):
    """Flip answers as `SettingsSearch` flips options: the number of a question is the option.

    An answer may change the later questions, and then the later answers apply to other ones. That
    is rare, because most questions are about unrelated functions.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        super().__init__(moves, generator)
        assert moves.rest is not None
        self._rest = moves.rest
        self._others_than_own = [
            move for move in range(moves.size) if move not in (_OWN_ANSWER, moves.rest)
        ]
        self._is_counted = False

    def ask(self) -> Sequence[MoveSequence]:
        """Return proposals: first the compiler's own answers, which counts its questions."""
        if self._is_counted:
            return super().ask()
        return [self._moves.pack((*(_OWN_ANSWER,) * _MOST_QUESTIONS, self._rest)), (self._rest,)]

    def tell(self, walks: Sequence[Walk]) -> None:
        """Take the best as the base, and combine what helped."""
        if self._is_counted:
            super().tell(walks)
            return
        self._is_counted = True
        questions = min(walks[0].last.length, _MOST_QUESTIONS) if walks else 0
        for question in range(questions):
            self._options[question] = list(self._others_than_own)
            self._doubts[question] = 1.0

    def _settings(self, sequence: Sequence[int]) -> dict[int, MoveSequence]:
        answers = (move for move in sequence if move != self._rest)
        return {place: (move,) for place, move in enumerate(answers) if move != _OWN_ANSWER}

    def _actions(self, settings: dict[int, MoveSequence]) -> list[int]:
        length = max(settings, default=-1) + 1
        answers = [settings.get(place, (_OWN_ANSWER,))[0] for place in range(length)]
        return [*answers, self._rest]
