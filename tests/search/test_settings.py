# SPDX-License-Identifier: MIT
"""Searches over settings and answers."""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.search import Budget, SearchResult, run_search
from compiler_gym.search.minimise import Minimiser
from compiler_gym.search.moves import Moves
from compiler_gym.search.settings import AnswerSearch, SettingsSearch
from compiler_gym.search.strategy import Moveset
from compiler_gym.search.tree import Failure, Node, Walk
from compiler_gym.spaces import NamedDiscrete

OPTIONS = 60


def switches() -> NamedDiscrete:
    """Options 1 to OPTIONS, each off (even) or on (odd); option 0 has the levels."""
    names = ["-O0", "-Os", *(f"{word}{n}" for n in range(1, OPTIONS) for word in ("no-", "f"))]
    space = NamedDiscrete(names, "switches")
    space.sets = (0, 0, *(n for n in range(1, OPTIONS) for _ in range(2)))
    return space


def cost(moves: Sequence[int]) -> float:
    """-Os saves 100; turning on every seventh option saves 5, every fifth costs 3."""
    chosen: dict[int, int] = {}
    for move in moves:
        chosen[0 if move < 2 else move // 2] = move
    saved = 100.0 if chosen.get(0) == 1 else 0.0
    on = [option for option, move in chosen.items() if option and move % 2]
    return saved + sum(5.0 * (n % 7 == 0) - 3.0 * (n % 5 == 0) for n in on)


def walked(moves: Moves, sequence: Sequence[int]) -> Walk:
    root = Node()
    if not sequence:
        return Walk((), (root,), 0)
    flat = moves.flat(sequence)
    if 9 in flat:
        return Walk(tuple(sequence), (root,), 1, Failure("CompilerFatalError", "no", sequence[0]))
    node = Node(root, sequence[0], reward=cost(flat), count=len(flat))
    return Walk(tuple(sequence), (root, node), 1)


def search(steps: int, seed: int) -> tuple[Node, Moves]:
    moves = Moves(switches(), seed=0)
    moveset = Moveset(len(moves), ((0,), (1,)), sets=moves.sets, pack=moves.pack)
    strategy = SettingsSearch(moveset, random.Random(seed))
    best, count = Node(), 0
    while count < steps:
        batch = strategy.ask()
        assert all(len(sequence) <= 1 for sequence in batch)
        walks = [walked(moves, sequence) for sequence in batch]
        strategy.tell(walks)
        count += len(walks)
        best = max([best, *(walk.last for walk in walks)], key=lambda node: node.reward)
    return best, moves


@pytest.mark.parametrize("seed", range(5))
def test_the_best_level_is_improved_clearly_within_150_compilations(seed: int) -> None:
    best, _ = search(150, seed)
    assert best.reward >= 120


def test_the_same_seed_asks_the_same() -> None:
    one, two = search(60, 3), search(60, 3)
    assert one[1].flat(one[0].actions()) == two[1].flat(two[0].actions())


def test_flips_that_do_not_matter_are_dropped() -> None:
    best, moves = search(150, 1)
    minimiser = Minimiser(best, moves.pack, moves.flat)
    while batch := minimiser.ask():
        minimiser.tell([walked(moves, sequence) for sequence in batch])
    left = moves.flat(minimiser.node.actions())
    assert minimiser.node.reward >= best.reward
    assert all(move == 1 or move // 2 % 7 == 0 for move in left)


def test_a_packed_move_is_as_long_as_its_actions_and_has_their_names() -> None:
    moves = Moves(switches(), seed=0)
    (packed,) = moves.pack([1, 3, 5])
    assert moves.actions([packed]) == [1, 3, 5]
    assert moves.name(packed) == "-Os f1 f2"
    assert moves.pack([packed]) == (packed,)
    assert moves.pack([4]) == (4,)
    assert moves.levels == {0, 1}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.slow
def test_gcc_makes_a_program_smaller_than_its_levels_do() -> None:
    def make_gcc() -> CompilerEnv:
        return compiler_gym.make("gcc-v0", benchmark="cbench-v1/crc32", reward_space="obj_size")

    (result,) = run_search(make_gcc, budget=Budget(steps=60), seed=1)
    with make_gcc() as env:
        rewards: list[float] = []
        for level in ("-Os", "-Oz", "-O3"):
            env.reset()
            if level in env.action_space.names:  # type: ignore[attr-defined]
                rewards.append(env.step(env.action_space[level])[1])  # type: ignore[index]
    assert result.reward > max(rewards)
    assert any(not name.startswith("-O") for name in result.action_names)


def make_llvm() -> CompilerEnv:
    return compiler_gym.make(
        "llvm-v0", reward_space="IrInstructionCountOz", action_space="PassesAndPipelines"
    )


def test_run_search_starts_from_the_levels_by_itself() -> None:
    (result,) = run_search(make_llvm, ["cbench-v1/qsort"], budget=Budget(steps=8), seed=0)
    assert result.reward >= 0.999
    assert result.failures == 0


def test_a_level_has_its_own_limit_and_a_failure_gives_the_reason() -> None:
    options = {"budget": Budget(steps=8), "jobs": 1}
    (patient,) = run_search(make_llvm, ["cbench-v1/sha"], step_seconds=1e-4, **options)  # type: ignore[arg-type]
    assert patient.reward >= 0.999
    (hasty,) = run_search(
        make_llvm,
        ["cbench-v1/sha"],
        step_seconds=1e-4,
        level_seconds=1e-4,
        **options,  # type: ignore[arg-type]
    )
    assert hasty.failures > 0
    assert sum(reason.count for reason in hasty.failure_reasons) == hasty.failures
    reasons = {reason.action: reason for reason in hasty.failure_reasons}
    assert reasons["-Oz"].type == "WorkerTimeoutError"
    assert "0.0001 s" in reasons["-Oz"].details
    assert hasty.to_json()["failure_reasons"][0]["details"]


QUESTIONS = 50


class Answers(NamedDiscrete):
    rest = 3


def answers() -> Answers:
    return Answers(["default", "yes", "no", "rest"], "answers")


def walk_answers(moves: Moves, sequence: tuple[int, ...]) -> Walk:
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
        walks = [walk_answers(moves, tuple(sequence)) for sequence in batch]
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
