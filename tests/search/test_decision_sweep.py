# SPDX-License-Identifier: MIT
"""Greedy search decides one thing after another, before the best start."""

import random
from collections.abc import Sequence

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.search import Budget, run_search
from compiler_gym.search.decision_sweep import DecisionSweep, EpsilonDecisionSweep
from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Failure, Node, Walk
from compiler_gym.spaces import Decision

STEPS = 3
LEVEL = 1
DECISIONS = tuple(
    Decision(f"call:{n}", (10 + 3 * n, 11 + 3 * n, 12 + 3 * n), ("default", "a", "b"), ("call",))
    for n in range(5)
)
WORTH = {11: 2.0, 12: 1.0, 14: -1.0, 15: 3.0}
"""What choices are worth; call 1's first choice harms. The others do nothing."""
FAILING = 17


def reward(sequence: MoveSequence) -> float:
    earned = sum(WORTH.get(move, 0.0) for move in sequence)
    both = 1.0 if {11, 15} <= {*sequence} and 20 in sequence else 0.0
    return (earned + both + 10.0) if sequence and sequence[-1] == LEVEL else 0.0


def walked(sequence: MoveSequence) -> Walk:
    root = Node()
    if FAILING in sequence:
        return Walk(sequence, (root,), 1, Failure("CompilerFatalError", "no"))
    end = Node(root, sequence[-1] if sequence else -1, reward=reward(sequence))
    return Walk(sequence, (root, end), 1)


def swept(strategy: DecisionSweep, batches: int = 100) -> list[MoveSequence]:
    asked: list[MoveSequence] = []
    for _ in range(batches):
        batch = strategy.ask()
        if not batch:
            break
        asked += batch
        strategy.tell([walked(sequence) for sequence in batch])
    return asked


def test_it_keeps_the_best_choice_of_each_and_ends_where_none_helps() -> None:
    moves = Moveset(STEPS, ((0,), (LEVEL,)), decisions=DECISIONS)
    asked = swept(DecisionSweep(moves, random.Random(0)))
    assert asked[:3] == [(), (0,), (LEVEL,)]
    assert max(map(reward, asked)) == 16.0  # a later sweep finds what needs two others
    best = max(asked, key=reward)
    assert {11, 15, 20} <= {*best}
    assert best[-1] == LEVEL
    assert len(asked) < 100  # it ended by itself


def test_it_asks_for_every_choice_but_the_one_that_is_made() -> None:
    moves = Moveset(STEPS, ((LEVEL,),), decisions=DECISIONS[:1])
    strategy = DecisionSweep(moves, random.Random(0))
    strategy.tell([walked(sequence) for sequence in strategy.ask()])
    batch = strategy.ask()
    assert batch == [(11, LEVEL), (12, LEVEL)]
    strategy.tell([walked(sequence) for sequence in batch])
    assert strategy.ask() == [(LEVEL,), (12, LEVEL)]


def test_with_a_chance_of_random_choices_it_goes_on_for_ever() -> None:
    moves = Moveset(STEPS, ((LEVEL,),), decisions=DECISIONS)
    asked = swept(EpsilonDecisionSweep(moves, random.Random(1)), batches=400)
    assert len(asked) > 400
    assert max(map(reward, asked)) == 16.0


def make_env() -> CompilerEnv:
    return compiler_gym.make("llvm-v0", action_space="Marks", reward_space="ObjectTextSizeOz")


@pytest.mark.parametrize(
    ("algorithm", "sweep"), [("greedy", DecisionSweep), ("e-greedy", EpsilonDecisionSweep)]
)
def test_greedy_searches_of_a_program_sweep_over_its_marks(
    monkeypatch: pytest.MonkeyPatch, algorithm: str, sweep: type[DecisionSweep]
) -> None:
    asked: list[MoveSequence] = []

    def ask(self: DecisionSweep) -> Sequence[MoveSequence]:
        batch = plain(self)
        asked.extend(batch)
        return batch

    plain = sweep.ask
    monkeypatch.setattr(sweep, "ask", ask)
    with make_env() as env:
        level = env.action_space["-Oz"]
    (found,) = run_search(
        make_env, ["cbench-v1/crc32"], algorithm=algorithm, budget=Budget(steps=12), jobs=1,
        starts=[[level]],
    )  # fmt: skip
    assert found.reward >= 1.0
    assert len(asked) > 3
    assert found.failures == 0
