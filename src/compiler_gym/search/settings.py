# SPDX-License-Identifier: MIT
"""Search over settings and answers: change a few at a time, starting from the best known ones.

If actions set options, their order does not matter and the last setting of an option counts. So
a proposal is a whole configuration, compiled once however many options were changed. Answers to a
compiler's questions are searched in the same way: a proposal is a whole episode, and only the
program at its end can be a result.
"""

import random
from collections import defaultdict
from collections.abc import Sequence

from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk

_SETTINGS_BATCH = 6
_FLIPS: Sequence[int] = (1, 2, 4, 8, 16, 32)
_PARENTS = 4
_PROPOSALS_WITHOUT_GAIN = 240
"""Proposals without a gain after which another good configuration becomes the base."""

_Settings = dict[int, MoveSequence]
"""The actions that set each option, by option; several may increment or decrement it."""


class SettingsSearch:
    """Change some options of the best configuration, and accept what is not worse.

    Most changes do not affect the reward: many are tried together, and an equally good proposal
    becomes the base, so that the search drifts. The number of changes follows the sizes that
    have paid off. The gains of several proposals of a batch are tried together next.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._options: dict[int, list[int]] = defaultdict(list)
        for move, option in enumerate(moves.sets):
            self._options[option].append(move)
        self._levels = {start[0] for start in moves.starts if len(start) == 1}
        self._base: _Settings = {}
        self._level = float("-inf")
        self._reward = float("-inf")
        self._others: list[tuple[float, _Settings]] = []
        self._weights = dict.fromkeys(_FLIPS, 1.0)
        self._doubts = dict.fromkeys(self._options, 1.0)
        self._proposals: list[tuple[_Settings, int]] = []
        self._next: list[_Settings] = [{}, *map(self._settings, moves.starts)]
        self._stale = 0

    def ask(self) -> Sequence[MoveSequence]:
        """Return configurations near the best."""
        planned, self._next = self._next, []
        self._proposals = [(settings, 0) for settings in planned]
        while len(self._proposals) < _SETTINGS_BATCH:
            flips = self._random.choices(_FLIPS, list(self._weights.values()))[0]
            self._proposals.append((self._flip(flips), flips))
        return [self._moves.pack(self._actions(settings)) for settings, _ in self._proposals]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore it: it may be packed, and other programs' best settings are near the levels."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Make the best proposal the base, and combine the improvements."""
        before, level = self._base, self._reward
        gained: list[tuple[float, _Settings]] = []
        for walk, (settings, flips) in zip(walks, self._proposals, strict=False):
            if walk.failure is not None:
                self._doubt(settings, before)
                continue
            reward = walk.last.reward
            if flips:
                self._weights[flips] = 0.9 * self._weights[flips] + 0.1
                if reward > level:
                    self._weights[flips] += 1.0
                elif reward < level:
                    self._weights[flips] = max(0.8 * self._weights[flips], 0.1)
            if reward > level:
                gained.append((reward, settings))
            if reward >= self._reward:
                self._reward, self._base = reward, settings
        self._stale = 0 if gained else self._stale + len(walks)
        if len(gained) > 1 and level > float("-inf"):
            self._combine(before, gained)

    def _combine(self, before: _Settings, gained: list[tuple[float, _Settings]]) -> None:
        combined = dict(before)
        for _, settings in sorted(gained, key=lambda item: item[0]):
            changed = {o: s for o, s in settings.items() if before.get(o) != s}
            combined.update(changed)
            for option in before.keys() - settings.keys():
                combined.pop(option, None)
        self._next.append(combined)

    def _doubt(self, settings: _Settings, before: _Settings) -> None:
        """Propose options less often if the compiler failed with them."""
        changed = [option for option, moves in settings.items() if before.get(option) != moves]
        for option in changed:
            self._doubts[option] *= 1 - 1 / (1 + len(changed))

    def _flip(self, count: int) -> _Settings:
        settings = dict(self._base)
        options = list(self._options)
        weights = [self._doubts[option] for option in options]
        for option in self._random.choices(options, weights, k=count):
            if option in settings and self._random.random() < 0.3:
                if not self._is_level(settings[option]):
                    del settings[option]
                continue
            settings[option] = (self._random.choice(self._options[option]),)
        return settings

    def _is_level(self, moves: MoveSequence) -> bool:
        return not self._levels.isdisjoint(moves)

    def _settings(self, sequence: Sequence[int]) -> _Settings:
        settings: _Settings = {}
        for move in sequence:
            settings[self._moves.sets[move]] = (move,)
        return settings

    def _actions(self, settings: _Settings) -> list[int]:
        return [move for option in sorted(settings) for move in settings[option]]


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
