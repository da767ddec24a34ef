# SPDX-License-Identifier: MIT
"""Search over the answers to a compiler's questions by changing a few of its default answers.

A proposal is a whole episode, compiled once: answers to the first questions, then the action that
leaves the rest to the compiler. Only the program at the end of a proposal can be a result.
"""

import random
from collections.abc import Sequence

from compiler_gym.search.settings import SettingsSearch
from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk

__all__ = ["AnswerSearch"]

_MOST_QUESTIONS = 4096
"""Number of questions that may be answered; the compiler answers later ones."""
_OWN_ANSWER = 0
"""The action that accepts the compiler's default answer."""


class AnswerSearch(SettingsSearch):
    """Change answers as `SettingsSearch` changes options: the option is the number of a question.

    An answer may change the questions that follow, so that later answers apply to different ones.
    That is rare, because most questions are about unrelated functions.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        super().__init__(moves, generator)
        assert moves.rest is not None
        self._rest = moves.rest
        self._alternatives = [
            move for move in range(moves.size) if move not in (_OWN_ANSWER, moves.rest)
        ]
        self._is_counted = False

    def ask(self) -> Sequence[MoveSequence]:
        """Return proposals: first one of default answers only, which counts the questions."""
        if self._is_counted:
            return super().ask()
        return [self._moves.pack((*(_OWN_ANSWER,) * _MOST_QUESTIONS, self._rest)), (self._rest,)]

    def tell(self, walks: Sequence[Walk]) -> None:
        """Make the best walk the base, and combine the improvements."""
        if self._is_counted:
            super().tell(walks)
            return
        self._is_counted = True
        questions = min(walks[0].last.length, _MOST_QUESTIONS) if walks else 0
        for question in range(questions):
            self._options[question] = list(self._alternatives)
            self._doubts[question] = 1.0

    def _settings(self, sequence: Sequence[int]) -> dict[int, MoveSequence]:
        answers = (move for move in sequence if move != self._rest)
        return {question: (move,) for question, move in enumerate(answers) if move != _OWN_ANSWER}

    def _actions(self, settings: dict[int, MoveSequence]) -> list[int]:
        length = max(settings, default=-1) + 1
        answers = [settings.get(question, (_OWN_ANSWER,))[0] for question in range(length)]
        return [*answers, self._rest]
