# SPDX-License-Identifier: MIT
"""Local search: mutate good sequences, alone or as a portfolio of several."""

import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import takewhile
from typing import ClassVar, TypeAlias

from compiler_gym.search.strategy import CONTINUE, MoveSequence, Moveset, is_better
from compiler_gym.search.tree import Node, Walk

_NEIGHBOURS_PER_BATCH = 8
_SIBLINGS = 4
"""Neighbours that share a prefix of a sequence, which is applied only once."""
_POOL = 12
_WALKS_BEFORE_STARTS = 40
"""Walks without a gain after which the remaining starts are tried."""
_WALKS_WITHOUT_GAIN = 400
"""Walks without a gain after which the search restarts."""


class LocalSearch:
    """Keep a small pool of different good programs and search around them.

    A start of one action is tried but never extended: a pipeline such as -Oz takes longer than
    twenty passes, and single passes hardly improve its result. Sequences of single passes start
    out worse and end up better.

    If rewards are equal, the shorter sequence is better. After many walks without an
    improvement, the best of the pool joins the champions, and a new pool grows from their perturbed
    copies; every second restart mixes the champions themselves.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._pipelines = frozenset(start[0] for start in moves.starts if len(start) == 1)
        """Actions that are complete pipelines, such as -Oz."""
        self._mutator = SequenceMutator(
            [move for move in range(moves.size) if move not in self._pipelines]
            or list(range(moves.size)),
            generator,
            longest=moves.longest,
            vary=moves.vary,
        )
        self._best: Node | None = None
        self._pool: list[Node] = []
        self._champions: list[Node] = []
        opening = moves.opening or moves.starts
        first = max(
            (n for n, one in enumerate(opening, 1) if _continues(one)), default=len(opening)
        )
        self._waiting: list[MoveSequence] = [(), *opening[:first]]
        self._later = opening[first:]
        """Starts to try when neighbours gain nothing more."""
        self._parents: list[float] = []
        self.stale = 0
        """Walks since the pool last improved."""
        self._restarts = 0

    @property
    def summits(self) -> list[Node]:
        """The best program so far, and the best one in the pool."""
        return [*filter(None, [self._best]), *self._pool[:1]]

    def seed(self, nodes: Sequence[Node]) -> None:
        """Add programs from another search to the pool."""
        for node in nodes:
            if not self._pool or node.reward > self._pool[0].reward:
                self.stale = 0
            self._admit(node)

    def suggest(self, sequence: MoveSequence) -> None:
        """Try `sequence` next."""
        self._waiting.append(sequence)

    def learn(self, walk: Walk, parent_reward: float) -> None:
        """Record which actions changed the program, and whether they beat `parent_reward`."""
        moves = [node.action for node in walk.nodes[1:]]
        self._mutator.learn(walk.requested, moves, walk.best.reward > parent_reward)

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next starts or neighbours."""
        if self.stale >= _WALKS_BEFORE_STARTS and not self._waiting:
            self._waiting, self._later = list(self._later), ()
        if self._waiting:
            batch = self._take_waiting()
            self._parents = [float("inf")] * len(batch)
            return batch
        sequences = [node.actions() for node in self._pool]
        batch: list[MoveSequence] = []
        self._parents = []
        for _ in range(_NEIGHBOURS_PER_BATCH // _SIBLINGS):
            parent = self._parent()
            sequence = sequences[parent]
            start = self._mutator.place(len(sequence))
            for _ in range(_SIBLINGS):
                self._parents.append(self._pool[parent].reward)
                batch.append(tuple(self._mutator.neighbour(sequence, sequences, start)))
        return batch

    def tell(self, walks: Sequence[Walk]) -> None:
        """Keep good programs, and restart after too many walks without an improvement."""
        for walk, parent_reward in zip(walks, self._parents, strict=False):
            self.learn(walk, parent_reward)
            best = walk.best
            top = self._pool[0].reward if self._pool else float("-inf")
            self.stale = 0 if best.reward > top else self.stale + 1
            self._admit(best)
            level = [node for node in walk.nodes if node.reward == best.reward]
            self._admit(level[-1])
        if self.stale >= _WALKS_WITHOUT_GAIN:
            self._restart()

    def _take_waiting(self) -> list[MoveSequence]:
        """Return the next sequences, which do not depend on the result of each other."""
        if _continues(self._waiting[0]):
            best = () if self._best is None else self._best.actions()
            return [(*best, *self._waiting.pop(0)[1:])[: self._moves.longest]]
        plain = takewhile(lambda one: not _continues(one), self._waiting[:_NEIGHBOURS_PER_BATCH])
        batch = list(plain)
        del self._waiting[: len(batch)]
        return batch

    def _parent(self) -> int:
        """Return the pool index of the better of two random programs."""
        return min(self._random.randrange(len(self._pool)) for _ in range(2))

    def _admit(self, node: Node) -> None:
        if is_better(node, self._best):
            self._best = node
        if any(step.action in self._pipelines for step in node.lineage()):
            return
        key = _identity(node)
        for i, other in enumerate(self._pool):
            if _identity(other) == key:
                if (node.reward, -node.depth) > (other.reward, -other.depth):
                    self._pool[i] = node
                break
        else:
            self._pool.append(node)
        self._pool.sort(key=lambda node: (-node.reward, node.depth))
        del self._pool[_POOL:]

    def _restart(self) -> None:
        self._champions.append(self._pool[0])
        self._champions.sort(key=lambda node: (-node.reward, node.depth))
        del self._champions[_POOL:]
        self.stale = 0
        self._restarts += 1
        self._pool = []
        if self._restarts % 2 == 0:
            self.seed(self._champions)
            return
        champions = [node.actions() for node in self._champions]
        disturbed = [self._mutator.perturb(self._random.choice(champions)) for _ in range(8)]
        fresh = [self._mutator.random() for _ in range(8)]
        self._waiting = [(), *self._moves.starts, *map(tuple, disturbed + fresh)]


def _continues(start: MoveSequence) -> bool:
    return start[:1] == (CONTINUE,)


def _identity(node: Node) -> Hashable:
    return id(node) if node.state is None else node.state


_STUCK = 120
"""Walks without a gain after which a sweep is worth its cost."""
_SHUFFLES = 4


class PortfolioSearch:
    """Search locally; when stuck, try every action once on the best program.

    After a sweep, all actions that helped are applied together, in several orders. Savings in
    different parts of a program add up, so this takes far fewer sweeps than adding one action
    at a time.
    """

    def __init__(self, moves: Moveset, generator: random.Random) -> None:
        self._moves = moves
        self._random = generator
        self._local = LocalSearch(moves, generator)
        self._base: Node | None = None
        """The best sequence of the climb; None during local search."""
        self._swept: set[Node] = set()
        self._chains: list[MoveSequence] = []

    def ask(self) -> Sequence[MoveSequence]:
        """Return the next sequences of the local search or of the climb."""
        if self._base is None:
            return self._local.ask()
        if self._chains:
            return self._chains
        actions = self._base.actions()
        return [(*actions, move) for move in range(self._moves.size)]

    def suggest(self, sequence: MoveSequence) -> None:
        """Let the local search try `sequence`."""
        self._local.suggest(sequence)

    def tell(self, walks: Sequence[Walk]) -> None:
        """Continue the local search, or the climb while it gains."""
        if self._base is None:
            self._local.tell(walks)
            if self._local.stale >= _STUCK:
                new = [node for node in self._local.summits if node not in self._swept]
                self._base = new[0] if new else None
            return
        for walk in walks:
            self._local.learn(walk, self._base.reward)
        if self._chains:
            self._chains = []
            self._climb(max((walk.best for walk in walks), key=_merit))
        else:
            self._swept.add(self._base)
            self._chains = self._combine(self._base, walks)
            if not self._chains:
                self._base = None

    def _combine(self, base: Node, walks: Sequence[Walk]) -> list[MoveSequence]:
        """Return sequences of all actions that helped, in several orders."""
        helped = [walk.last for walk in walks if walk.last.reward > base.reward]
        helped.sort(key=lambda node: -node.reward)
        if not helped:
            return []
        moves = [node.action for node in helped]
        orders = [moves, moves[::-1]]
        orders += [self._random.sample(moves, len(moves)) for _ in range(_SHUFFLES)]
        return [(*base.actions(), *order) for order in orders]

    def _climb(self, node: Node) -> None:
        assert self._base is not None
        is_higher = is_better(node, self._base)
        self._local.seed([node])
        self._base = node if is_higher and node not in self._swept else None


def _merit(node: Node) -> tuple[float, int]:
    return node.reward, -node.depth


_ATTEMPTS = 5
_LATENESS = 4
"""At 4, a change starts on average in the last fifth of a sequence and costs 4 new actions.
At 2 it starts in the last third and costs 7, and equal numbers of actions gained a bit less."""

_VARIED = 0.4
"""The probability that a change varies a part of a move, if moves have parts."""

_Change: TypeAlias = Callable[["SequenceMutator", list[int], Sequence[Sequence[int]]], None]


class SequenceMutator:
    """Generator of neighbours of sequences that prefers actions with past gains."""

    def __init__(
        self,
        moves: Sequence[int],
        generator: random.Random,
        *,
        longest: int,
        vary: Callable[[int, random.Random], int] | None = None,
    ) -> None:
        self._vary = vary
        self._random = generator
        self._longest = longest
        self._moves = moves
        self._tries = Counter[int]()
        self._effects = Counter[int]()
        self._gains = Counter[int]()
        self._weights = dict.fromkeys(moves, 1.0)

    def place(self, length: int) -> int:
        """Return a position from 0 to `length` in a sequence, more likely near the end.

        Only the actions after a change must be applied again, so late changes are cheap and pay
        off more often per action.
        """
        return length - int((length + 1) * self._random.random() ** _LATENESS)

    def neighbour(
        self, sequence: Sequence[int], others: Sequence[Sequence[int]], start: int = 0
    ) -> list[int]:
        """Return a copy of `sequence` changed after `start`, perhaps with parts of `others`."""
        head, tail = list(sequence[:start]), list(sequence[start:])
        changed = self._vary_tail(tail, others)
        for _ in range(_ATTEMPTS):  # some changes leave a short tail unchanged
            if changed != tail:
                break
            changed = self._vary_tail(tail, others)
        return [*head, *changed][: self._longest]

    def _vary_tail(self, tail: Sequence[int], others: Sequence[Sequence[int]]) -> list[int]:
        changed = list(tail)
        count = 1
        while self._random.random() < 0.4 and count < 4:
            count += 1
        for _ in range(count):
            if self._vary is not None and changed and self._random.random() < _VARIED:
                position = self.place(len(changed) - 1)
                changed[position] = self._vary(changed[position], self._random)
                continue
            change = self._random.choices(self._CHANGES, _CHANCES)[0]
            change(self, changed, others)
        return changed

    def perturb(self, sequence: Sequence[int]) -> list[int]:
        """Return a copy far from `sequence`, with a third of its actions replaced."""
        return [m if self._random.random() < 2 / 3 else self.move() for m in sequence]

    def random(self) -> list[int]:
        """Return a new sequence."""
        return [self.move() for _ in range(self._random.randint(4, 24))][: self._longest]

    def move(self) -> int:
        """Return an action, more likely one that has changed and improved programs."""
        if self._random.random() < 0.25:
            return self._random.choice(self._moves)
        return self._random.choices(self._moves, list(self._weights.values()))[0]

    def learn(self, requested: Sequence[int], effective: Sequence[int], gain: bool) -> None:
        """Record which actions of a sequence changed the program, and whether it paid off."""
        for move in set(requested):
            self._tries[move] += 1
        for move in set(effective):
            self._effects[move] += 1
            if gain:
                self._gains[move] += 1
        for move in set(requested) & self._weights.keys():
            works = (self._effects[move] + 1) / (self._tries[move] + 2)
            pays = (self._gains[move] + 0.2) / (self._tries[move] + 4)
            self._weights[move] = works * (0.1 + 4 * pays)

    # -- changes, each in place ----------------------------------------------------------------

    def _insert(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        sequence.insert(self._random.randint(0, len(sequence)), self.move())

    def _append(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        sequence.extend(self.move() for _ in range(self._random.randint(1, 4)))

    def _delete(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        if sequence:
            del sequence[self._random.randrange(len(sequence))]

    def _delete_some(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        start = self._random.randint(0, len(sequence))
        del sequence[start : start + self._random.randint(1, 4)]

    def _replace(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        if sequence:
            sequence[self._random.randrange(len(sequence))] = self.move()

    def _swap(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        if len(sequence) > 1:
            i, j = self._random.sample(range(len(sequence)), 2)
            sequence[i], sequence[j] = sequence[j], sequence[i]

    def _shift(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        if len(sequence) > 1:
            move = sequence.pop(self._random.randrange(len(sequence)))
            sequence.insert(self._random.randint(0, len(sequence)), move)

    def _cross(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        other = self._random.choice(others)
        start = self.place(len(other))
        sequence[self._random.randint(0, len(sequence)) :] = other[start:]

    def _splice(self, sequence: list[int], others: Sequence[Sequence[int]]) -> None:
        other = self._random.choice(others)
        if other:
            start = self._random.randrange(len(other))
            part = other[start : start + self._random.randint(1, 6)]
            at = self._random.randint(0, len(sequence))
            sequence[at:at] = part

    _CHANGES: ClassVar = (
        _insert,
        _append,
        _delete,
        _delete_some,
        _replace,
        _swap,
        _shift,
        _cross,
        _splice,
    )


_CHANCES = (5, 3, 2, 1, 4, 1, 2, 2, 3)
