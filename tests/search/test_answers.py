# SPDX-License-Identifier: MIT
"""Answers are changed a few at a time from those of the compiler, and only ends count."""

import random
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.search import Budget, SearchResult, run_search
from compiler_gym.search.answers import AnswerSearch
from compiler_gym.search.moves import Moves
from compiler_gym.search.strategy import Moveset
from compiler_gym.search.tree import Node, Walk
from compiler_gym.spaces import NamedDiscrete

QUESTIONS = 50


class Answers(NamedDiscrete):
    rest = 3


def answers() -> Answers:
    return Answers(["default", "yes", "no", "rest"], "answers")


def walked(moves: Moves, sequence: tuple[int, ...]) -> Walk:
    """Every seventh question is better answered with yes, every fifth never."""
    flat = moves.flat(sequence)
    given = flat[: flat.index(3)][:QUESTIONS]
    saved = sum(
        3.0 * (at % 7 == 0 and answer == 1) - 2.0 * (at % 5 == 0 and answer > 0)
        for at, answer in enumerate(given)
    )
    root = Node()
    count = len(given) + (len(given) < QUESTIONS)
    return Walk(sequence, (root, Node(root, sequence[0], reward=saved, count=count)), 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_answer_to_each_question_is_found(seed: int) -> None:
    moves = Moves(answers(), seed=0)
    moveset = Moveset(len(moves), pack=moves.pack, rest=moves.rest)
    strategy = AnswerSearch(moveset, random.Random(seed))
    rewards: list[float] = []
    for _ in range(150):
        batch = strategy.ask()
        assert all(len(sequence) == 1 for sequence in batch)
        assert all(moves.flat(sequence)[-1] == 3 for sequence in batch)
        walks = [walked(moves, tuple(sequence)) for sequence in batch]
        strategy.tell(walks)
        rewards += [walk.last.reward for walk in walks]
    assert rewards[:2] == [0, 0]
    assert max(rewards) >= 15  # of 18


def make_env() -> CompilerEnv:
    return compiler_gym.make(
        "llvm-inline-v0", action_space="InliningAndRest", reward_space="ObjectTextSizeOz"
    )


def searched(algorithm: str = "portfolio", jobs: int = 1, steps: int = 30) -> SearchResult:
    (result,) = run_search(
        make_env, ["cbench-v1/bitcount"], algorithm=algorithm, budget=Budget(steps=steps), jobs=jobs
    )
    return result


def test_a_search_of_the_inliner_is_never_worse_than_llvm_and_repeats_itself() -> None:
    result = searched()
    again = searched(jobs=2)
    assert result.reward > 1.0
    assert (again.actions, again.reward) == (result.actions, result.reward)
    assert result.failures == 0
    with make_env() as env:
        env.reset(benchmark=result.benchmark)
        assert env.multistep(result.actions)[1] == result.reward
        assert not env.in_episode
        assert env.commandline() == result.commandline
        assert env.validate().okay()


@pytest.mark.parametrize("algorithm", ["random", "greedy"])
def test_every_algorithm_compares_finished_programs(algorithm: str) -> None:
    result = searched(algorithm, steps=6)
    assert "rest" not in result.action_names[:-1]
    with make_env() as env:
        env.reset(benchmark=result.benchmark)
        assert env.multistep(result.actions)[1:3] == (result.reward, True)


def test_a_search_without_savings_reports_none(tmp_path: Path) -> None:
    """A reset is no result, though it has earned 0: nobody has an unfinished program."""
    source = tmp_path / "grows.c"
    source.write_text(
        "int f(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; "
        "return s; }\nint g(const int *p) { return f(p, 9); }\n"
    )
    (result,) = run_search(
        lambda: compiler_gym.make(
            "llvm-inline-v0",
            action_space="InliningAndRest",
            reward_space="IrInstructionCount",
        ),
        [f"file://{source}?goal=speed"],
        budget=Budget(steps=4),
        jobs=1,
    )
    assert result.actions
    with make_env() as env:
        env.reset(benchmark=result.benchmark, reward_space="IrInstructionCount")
        assert env.multistep(result.actions)[1:3] == (result.reward, True)
