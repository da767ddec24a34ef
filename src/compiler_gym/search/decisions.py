# SPDX-License-Identifier: MIT
"""Search over the decisions that a program offers: a few, a region or a callee at a time.

A proposal is a set of decisions and the best known sequence of passes. Decisions in different
parts of a program hardly interact, so the gains of several proposals are tried together next.
Late decisions are tried on the program after the passes, so that no pass runs again.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Walk
from compiler_gym.spaces import Decision

_DECISIONS_BATCH = 6
_LATER_STARTS = 1
"""Number of starts without decisions that are tried in each batch after the first."""
_CHANGE_SIZES: Sequence[int] = (1, 2, 4, 8, 16)
_GROUP, _START, _KNOWN = 0, -1, -2
"""Special sizes: a whole group, another start, and a change that teaches nothing, because it
is known to pay elsewhere or combines several gains."""
_UNDONE = 0.35
"""The probability that a changed decision is given back to the compiler."""
_FADES = 0.93
"""The factor by which each try shrinks a weight."""
_LEAST = 0.15
"""The smallest weight: a change that does not pay now may pay later."""

_Choices = dict[int, int]
"""The action chosen for each decision, by its index; the compiler makes the others."""


class _Proposal(NamedTuple):
    decided: _Choices
    tail: MoveSequence
    size: int = _KNOWN
    """Number of decisions to change; a few may stay the same."""
    kind: str = ""
    """The kind of the changed decisions."""


class DecisionSearch:
    """Keep the best set of decisions, change some, and accept what is not worse.

    Starts that contain decisions are tried first. The others follow, a few at a time, with the
    best decisions so far: on a large program, all of them would take the whole time. If no start
    contains decisions, all are tried at first. Then come the late decisions that paid on other
    programs, the best first, and the removal of each late decision in the start.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._decisions: Sequence[Decision] = moves.decisions
        self._groups: dict[str, list[int]] = defaultdict(list)
        self._by_kind: dict[str, list[int]] = defaultdict(list)
        for index, decision in enumerate(self._decisions):
            self._by_kind[decision.groups[0]].append(index)
            for group in decision.groups[1:]:
                self._groups[group].append(index)
        self._kinds = dict.fromkeys(self._by_kind, 1.0)
        self._sizes = dict.fromkeys((_GROUP, *_CHANGE_SIZES), 1.0)
        self._base: _Choices = {}
        self._tail: MoveSequence = ()
        self._reward = float("-inf")
        self._index_by_move = {m: i for i, d in enumerate(self._decisions) for m in d.choices}
        deciding = [s for s in moves.starts if any(m in self._index_by_move for m in s)]
        self._starts: list[MoveSequence] = [s for s in moves.starts if s not in deciding]
        self._first: Sequence[MoveSequence] = deciding
        if not deciding:
            self._first, self._starts = [(), *self._starts], []
        self._promising_changes: list[tuple[int, int]] = []
        """Late decisions still to try, by index and action, the next one last."""
        self._proposals: list[_Proposal] = []
        self._next: list[_Choices] = []

    def ask(self) -> Sequence[MoveSequence]:
        """Return the first starts, then changes to the best start."""
        if self._first:
            self._proposals = [self._read(start) for start in self._first]
            return [self._sequence(proposal) for proposal in self._proposals]
        self._proposals = [_Proposal(decided, self._tail) for decided in self._next]
        self._next = []
        starts, self._starts = self._starts[:_LATER_STARTS], self._starts[_LATER_STARTS:]
        late = {at: self._base[at] for at in self._places(self._base, is_late=True)}
        self._proposals += [_Proposal(late, tuple(start), _START) for start in starts]
        while len(self._proposals) < _DECISIONS_BATCH and self._promising_changes:
            index, action = self._promising_changes.pop()
            if (decided := self._with(index, action)) != self._base:
                self._proposals.append(_Proposal(decided, self._tail))
        while len(self._proposals) < _DECISIONS_BATCH:
            self._proposals.append(self._change_decisions())
        return [self._sequence(proposal) for proposal in self._proposals]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore it: the decisions of another program do not apply here."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Make the best proposal the base, and combine the improvements."""
        before, tail, level = self._base, self._tail, self._reward
        gained: list[tuple[float, _Choices]] = []
        for walk, proposal in zip(walks, self._proposals, strict=False):
            reward = float("-inf") if walk.failure is not None else walk.last.reward
            self._learn(proposal.size, proposal.kind, reward - level)
            if reward > level and proposal.tail == tail:
                gained.append((reward, proposal.decided))
            is_shorter = self._first and len(proposal.tail) < len(self._tail)
            if reward > self._reward or (
                reward == self._reward and (not self._first or is_shorter)
            ):
                self._reward, self._base, self._tail = reward, proposal.decided, proposal.tail
        if self._first:
            self._first = ()
            self._promising_changes = self._promising()
        elif len(gained) > 1 and self._tail == tail:
            self._combine(before, gained)

    def _read(self, start: Sequence[int]) -> _Proposal:
        decided = {self._index_by_move[m]: m for m in start if m in self._index_by_move}
        return _Proposal(decided, tuple(move for move in start if move not in self._index_by_move))

    def _promising(self) -> list[tuple[int, int]]:
        """Return changes that may improve the base, the best last: decisions to drop or make."""
        rows = [
            (gain, index, action)
            for index, decision in enumerate(self._decisions)
            if decision.is_late
            for gain, action in zip(decision.gains[1:], decision.choices[1:], strict=True)
            if gain < 0
        ]
        chosen_late = self._places(self._base, is_late=True)
        late = [(index, self._decisions[index].choices[0]) for index in chosen_late]
        best = [(index, action) for _, index, action in sorted(rows, reverse=True)]
        return [*late, *best]

    def _with(self, index: int, action: int) -> _Choices:
        choices = {at: move for at, move in self._base.items() if at != index}
        if action != self._decisions[index].choices[0]:
            choices[index] = action
        return choices

    def _sequence(self, proposal: _Proposal) -> MoveSequence:
        """Return `proposal` as moves; late decisions follow the passes if only they changed."""
        decided, tail = proposal.decided, proposal.tail
        early = self._actions(decided, self._places(decided, is_late=False))
        is_changed = early != self._actions(self._base, self._places(self._base, is_late=False))
        if tail == self._tail and is_changed:
            return self._moves.join((*self._actions(decided, decided), *tail))
        late = self._actions(decided, self._places(decided, is_late=True))
        return (*self._moves.join((*early, *tail)), *self._moves.join(late))

    def _places(self, decided: _Choices, *, is_late: bool) -> list[int]:
        return [index for index in decided if self._decisions[index].is_late is is_late]

    def _actions(self, decided: _Choices, places: Iterable[int]) -> MoveSequence:
        return tuple(decided[index] for index in sorted(places))

    def _learn(self, size: int, kind: str, gain: float) -> None:
        if size < 0:
            return
        self._sizes[size] = _weight(self._sizes[size], gain)
        self._kinds[kind] = _weight(self._kinds[kind], gain)

    def _combine(self, before: _Choices, gained: Sequence[tuple[float, _Choices]]) -> None:
        combined = dict(before)
        for _, decided in sorted(gained, key=lambda item: item[0]):
            combined.update({p: move for p, move in decided.items() if before.get(p) != move})
            for index in before.keys() - decided.keys():
                combined.pop(index, None)
        self._next.append(combined)

    def _change_decisions(self) -> _Proposal:
        """Return the base with some decisions changed, the intended number, and their kind."""
        decided = dict(self._base)
        size = self._random.choices(list(self._sizes), list(self._sizes.values()))[0]
        kind = self._random.choices(list(self._kinds), list(self._kinds.values()))[0]
        if size == _GROUP and self._groups:
            group = self._groups[self._random.choice(list(self._groups))]
            self._flip_together(decided, group)
            return _Proposal(decided, self._tail, size, self._decisions[group[0]].groups[0])
        for _ in range(max(size, 1)):
            self._flip(decided, self._random.choice(self._by_kind[kind]))
        return _Proposal(decided, self._tail, size, kind)

    def _flip(self, decided: _Choices, index: int) -> None:
        if index in decided and self._random.random() < _UNDONE:
            del decided[index]
            return
        alternatives = [m for m in self._decisions[index].choices[1:] if decided.get(index) != m]
        if alternatives:
            decided[index] = self._random.choice(alternatives)

    def _flip_together(self, decided: _Choices, group: Sequence[int]) -> None:
        """Make the same choice for every decision of a group that offers it."""
        kinds = self._decisions[self._random.choice(group)].kinds
        kind = self._random.choice(kinds)
        for index in group:
            decision = self._decisions[index]
            if kind not in decision.kinds:
                continue
            at = decision.kinds.index(kind)
            if at:
                decided[index] = decision.choices[at]
            else:
                decided.pop(index, None)


def _weight(before: float, gain: float) -> float:
    """Return the new weight of a kind of change after another `gain`."""
    return max(_FADES * before, _LEAST) + (gain > 0)


"""The action chosen for each decision, by its index; the compiler makes the others."""


class DecisionSweep:
    """Sweep over all decisions, keeping the best choice of each, until a sweep gains nothing."""

    epsilon = 0.0
    """The probability that a choice is random."""
    repeats = False
    """True to start again without decisions once a sweep gains nothing."""

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._decided: _Choices = {}
        self._tail: MoveSequence = ()
        self._reward = float("-inf")
        self._undecided = float("-inf")
        """The reward of the start without decisions."""
        self._has_begun = False
        self._order: list[int] = []
        """Decisions left in this sweep, the next one last."""
        self._helped = False
        self._proposals: list[_Choices] = []
        self._is_random_step = False

    def ask(self) -> Sequence[MoveSequence]:
        """Return the starts alone, then every choice of the next decision."""
        if not self._has_begun:
            return [self._moves.pack(start) for start in ((), *self._moves.starts)]
        if not self._order and not self._next_sweep():
            return []
        index = self._order[-1]
        choices = self._moves.decisions[index].choices
        current = self._decided.get(index, choices[0])
        alternatives = [choice for choice in choices if choice != current]
        self._is_random_step = self._random.random() < self.epsilon
        if self._is_random_step:
            alternatives = [self._random.choice(alternatives)]
        self._proposals = [self._with(index, choice) for choice in alternatives]
        return [self._sequence(decided) for decided in self._proposals]

    def suggest(self, sequence: MoveSequence) -> None:
        """Ignore it: the decisions of another program do not apply here."""

    def tell(self, walks: Sequence[Walk]) -> None:
        """Keep the best choice if it beats the current one or was drawn at random."""
        if not self._has_begun:
            best = max(walks, key=lambda walk: (walk.last.reward, -len(walk.requested)))
            self._has_begun = True
            self._tail, self._undecided = best.requested, best.last.reward
            self._begin_sweep()
            self._reward = self._undecided
            return
        self._order.pop()
        tried = [
            (walk.last.reward, decided)
            for walk, decided in zip(walks, self._proposals, strict=False)
            if walk.failure is None
        ]
        reward, decided = max(tried, key=lambda row: row[0], default=(float("-inf"), self._decided))
        helps = reward > self._reward
        if helps or (tried and self._is_random_step):
            self._reward, self._decided = reward, decided
        self._helped = self._helped or helps

    def _next_sweep(self) -> bool:
        """Begin another sweep over all decisions; return False if there is none."""
        if not self._helped:
            if not self.repeats:
                return False
            self._decided, self._reward = {}, self._undecided
        self._begin_sweep()
        return bool(self._order)

    def _begin_sweep(self) -> None:
        self._helped = False
        self._order = list(range(len(self._moves.decisions)))
        self._random.shuffle(self._order)

    def _with(self, index: int, choice: int) -> _Choices:
        decided = {at: move for at, move in self._decided.items() if at != index}
        if choice != self._moves.decisions[index].choices[0]:
            decided[index] = choice
        return decided

    def _sequence(self, decided: _Choices) -> MoveSequence:
        decisions = [decided[index] for index in sorted(decided)]
        return self._moves.pack((*decisions, *self._tail))


class EpsilonDecisionSweep(DecisionSweep):
    """Repeat greedy sweeps in which some choices are random."""

    epsilon = 0.1
    repeats = True
