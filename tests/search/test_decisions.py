# SPDX-License-Identifier: MIT
"""Decisions are flipped alone, several at a time or a group at a time, before the best start."""

import random
from collections.abc import Sequence

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.search import Budget, run_search
from compiler_gym.search.decisions import DecisionSearch, DecisionSweep, EpsilonDecisionSweep
from compiler_gym.search.moves import Moves
from compiler_gym.search.strategy import MoveSequence, Moveset
from compiler_gym.search.tree import Failure, Node, Walk
from compiler_gym.spaces import Decision

STEPS = 3
CALLS = 30
DECISIONS = tuple(
    Decision(
        f"call:{n}",
        tuple(range(10 + 3 * n, 13 + 3 * n)),
        ("default", "inline", "never"),
        ("call", f"caller {n % 3}", f"callee {n % 5}"),
    )
    for n in range(CALLS)
)
BEST = {n: 2 if n % 5 == 0 else 1 for n in range(CALLS) if n % 5 < 2}
"""Calls of callee 0 are best never inlined, those of callee 1 are; the others are best left."""


def reward(sequence: MoveSequence) -> float:
    made = {(m - 10) // 3: (m - 10) % 3 for m in sequence if m >= 10}
    found = sum(1.0 if BEST.get(n) == choice else -0.5 for n, choice in made.items() if choice)
    return found + (50.0 if sequence and sequence[-1] == 1 else 0.0)


def walked(sequence: MoveSequence) -> Walk:
    root = Node()
    if 10 + 3 * 4 + 1 in sequence:
        return Walk(sequence, (root,), 1, Failure("CompilerFatalError", "no"))
    node = root
    for at, move in enumerate(sequence):
        node = Node(node, move, reward=reward(sequence[: at + 1]))
    return Walk(sequence, (root, *node.path()), 1)


def found_by(seed: int, steps: int = 900) -> tuple[float, MoveSequence]:
    moves = Moveset(STEPS, ((0,), (1,)), decisions=DECISIONS)
    strategy = DecisionSearch(moves, random.Random(seed))
    best: tuple[float, MoveSequence] = (0.0, ())
    count = 0
    while count < steps:
        walks = [walked(sequence) for sequence in strategy.ask()]
        count += len(walks)
        strategy.tell(walks)
        best = max(best, *((w.last.reward, w.requested) for w in walks if w.failure is None))
    return best


def test_it_finds_what_pays_and_leaves_the_rest() -> None:
    found, sequence = found_by(seed=1)
    assert found == 50.0 + len(BEST)
    assert sequence[-1] == 1
    assert {(m - 10) // 3: (m - 10) % 3 for m in sequence[:-1]} == BEST


def test_the_same_seed_finds_the_same() -> None:
    assert found_by(seed=2, steps=200) == found_by(seed=2, steps=200)


def test_starts_come_first_and_others_programs_are_ignored() -> None:
    strategy = DecisionSearch(Moveset(STEPS, ((1,),), decisions=DECISIONS), random.Random(0))
    strategy.suggest((12, 1))
    assert strategy.ask() == [(), (1,)]


def make_env() -> CompilerEnv:
    return compiler_gym.make(
        "llvm-v0", action_space="Marks", reward_space="ObjectTextSizeOz", isolation="in-process"
    )


def test_marks_and_the_following_pass_become_one_move() -> None:
    with make_env() as env:
        env.reset(benchmark="cbench-v1/crc32")
        moves = Moves(env.action_space, seed=0)
        marks = [env.action_space[f"call:{n}=never"] for n in (0, 1)]
        level = env.action_space["-Oz"]
        packed = moves.pack([*marks, level, 0, marks[0]])
        assert len(packed) == 3
        assert packed[1:] == (0, marks[0])
        assert moves.actions(packed) == [*marks, level, 0, marks[0]]
        assert moves.name(packed[0]) == "call:0=never call:1=never -Oz"


def test_options_of_the_code_generator_are_decisions_too() -> None:
    with compiler_gym.make("llvm-v0", action_space="MarksAndCodegen") as env:
        env.reset(benchmark="cbench-v1/crc32")
        space = env.action_space
        found = {decision.name: decision for decision in space.decisions()}
        assert found["regalloc"].groups == ("codegen",)
        assert found["regalloc"].kinds[0] == "regalloc=default"
        assert [space.find_name(move) for move in found["regalloc"].choices] == [
            *found["regalloc"].kinds
        ]
        assert "call:0" in found
        moves = Moves(space, seed=0)
        together = [space[name] for name in ("call:0=never", "regalloc=basic", "-Oz")]
        assert len(moves.pack(together)) == 1


def test_a_search_of_marks_is_never_worse_than_its_start_and_replays() -> None:
    with make_env() as env:
        level = env.action_space["-Oz"]
        (found,) = run_search(
            make_env, ["cbench-v1/crc32"], budget=Budget(steps=20), jobs=1, starts=[[level]]
        )
        assert found.reward >= 1.0
        env.reset(benchmark="cbench-v1/crc32")
        assert env.multistep(found.actions)[1] == found.reward
        assert env.commandline() == found.commandline
        state = env.state
        env.apply(state)
        assert env.observation["IrHash"] == state.state_hash


def test_random_search_draws_marks_too() -> None:
    (found,) = run_search(
        make_env, ["cbench-v1/crc32"], algorithm="random", budget=Budget(steps=10), jobs=1
    )
    assert found.sequences


LEVEL = 1
SWEPT = tuple(
    Decision(f"call:{n}", (10 + 3 * n, 11 + 3 * n, 12 + 3 * n), ("default", "a", "b"), ("call",))
    for n in range(5)
)
WORTH = {11: 2.0, 12: 1.0, 14: -1.0, 15: 3.0}
"""What choices are worth; call 1's first choice harms. The others do nothing."""
FAILING = 17


def sweep_reward(sequence: MoveSequence) -> float:
    earned = sum(WORTH.get(move, 0.0) for move in sequence)
    both = 1.0 if {11, 15} <= {*sequence} and 20 in sequence else 0.0
    return (earned + both + 10.0) if sequence and sequence[-1] == LEVEL else 0.0


def walk_sweep(sequence: MoveSequence) -> Walk:
    root = Node()
    if FAILING in sequence:
        return Walk(sequence, (root,), 1, Failure("CompilerFatalError", "no"))
    end = Node(root, sequence[-1] if sequence else -1, reward=sweep_reward(sequence))
    return Walk(sequence, (root, end), 1)


def swept(strategy: DecisionSweep, batches: int = 100) -> list[MoveSequence]:
    asked: list[MoveSequence] = []
    for _ in range(batches):
        batch = strategy.ask()
        if not batch:
            break
        asked += batch
        strategy.tell([walk_sweep(sequence) for sequence in batch])
    return asked


def test_it_keeps_the_best_choice_of_each_and_ends_where_none_helps() -> None:
    moves = Moveset(STEPS, ((0,), (LEVEL,)), decisions=SWEPT)
    asked = swept(DecisionSweep(moves, random.Random(0)))
    assert asked[:3] == [(), (0,), (LEVEL,)]
    assert max(map(sweep_reward, asked)) == 16.0  # a later sweep finds what needs two others
    best = max(asked, key=sweep_reward)
    assert {11, 15, 20} <= {*best}
    assert best[-1] == LEVEL
    assert len(asked) < 100  # it ended by itself


def test_it_asks_for_every_choice_but_the_one_that_is_made() -> None:
    moves = Moveset(STEPS, ((LEVEL,),), decisions=SWEPT[:1])
    strategy = DecisionSweep(moves, random.Random(0))
    strategy.tell([walk_sweep(sequence) for sequence in strategy.ask()])
    batch = strategy.ask()
    assert batch == [(11, LEVEL), (12, LEVEL)]
    strategy.tell([walk_sweep(sequence) for sequence in batch])
    assert strategy.ask() == [(LEVEL,), (12, LEVEL)]


def test_with_a_chance_of_random_choices_it_goes_on_for_ever() -> None:
    moves = Moveset(STEPS, ((LEVEL,),), decisions=SWEPT)
    asked = swept(EpsilonDecisionSweep(moves, random.Random(1)), batches=400)
    assert len(asked) > 400
    assert max(map(sweep_reward, asked)) == 16.0


def make_sweep_env() -> CompilerEnv:
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
    with make_sweep_env() as env:
        level = env.action_space["-Oz"]
    (found,) = run_search(
        make_sweep_env, ["cbench-v1/crc32"], algorithm=algorithm, budget=Budget(steps=12), jobs=1,
        starts=[[level]],
    )  # fmt: skip
    assert found.reward >= 1.0
    assert len(asked) > 3
    assert found.failures == 0
