# SPDX-License-Identifier: MIT
"""Episodes become as short as the hypothesis lets them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import InvalidParameterError, MinimizationError
from compiler_gym.search import (
    bisect_trajectory,
    minimize_trajectory_iteratively,
    random_minimization,
)
from tests.stand_ins import always, never, stand_in

Minimise = Callable[..., Iterator[CompilerEnv]]


@pytest.fixture(scope="module")
def env() -> Iterator[LlvmEnv]:
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        assert isinstance(env, LlvmEnv)
        env.reset(benchmark="cbench-v1/crc32")
        yield env


def play(env: LlvmEnv, *actions: int) -> None:
    env.reset(benchmark="cbench-v1/crc32")
    env.multistep(actions)


def holds(*wanted: int) -> Callable[[CompilerEnv], bool]:
    """Return the hypothesis that the actions include all of `wanted`, in order."""

    def check(env: CompilerEnv) -> bool:
        rest = iter(env.actions)
        return all(action in rest for action in wanted)

    return check


PATIENT = {"num_steps_ratio_multiplier": 40, "min_trajectory_len": 1}


@pytest.mark.parametrize(
    ("minimise", "options"),
    [(minimize_trajectory_iteratively, {}), (random_minimization, PATIENT)],
)
@pytest.mark.parametrize("wanted", [(), (3,), (0, 19), (4, 5, 17)])
def test_only_what_matters_is_left(
    env: LlvmEnv, minimise: Minimise, options: dict[str, int], wanted: tuple[int, ...]
) -> None:
    play(env, *range(20))
    lengths = [20]
    for seen in minimise(env, holds(*wanted), **options):
        assert seen is env
        assert holds(*wanted)(env), "what is handed out is always an episode that keeps it"
        lengths.append(len(env.actions))
    assert env.actions == list(wanted)
    assert lengths == sorted(lengths, reverse=True)
    assert env.in_episode


def test_a_random_minimisation_stops_at_its_least_length_and_its_tests(env: LlvmEnv) -> None:
    play(env, *range(20))
    list(random_minimization(env, lambda e: True, min_trajectory_len=12, init_discard_ratio=0.1))
    assert len(env.actions) == 11
    tests: list[CompilerEnv] = []
    play(env, *range(16))
    list(random_minimization(env, lambda e: bool(tests.append(e) or len(e.actions) == 16)))
    assert 15 <= len(tests) <= 25


@pytest.mark.parametrize(
    "minimise", [minimize_trajectory_iteratively, random_minimization, bisect_trajectory]
)
def test_a_flaky_hypothesis_is_tried_again(env: LlvmEnv, minimise: Minimise) -> None:
    tests: list[list[Any]] = []

    def now_and_then(env: CompilerEnv) -> bool:
        tests.append(list(env.actions))
        return len(tests) % 3 == 0

    play(env, 1, 2, 3, 4)
    list(minimise(env, now_and_then, flakiness=3))
    assert tests[:3] == [[1, 2, 3, 4]] * 3
    if minimise is not random_minimization:
        assert env.actions == []
    with pytest.raises(InvalidParameterError, match="flakiness must be at least 1"):
        list(minimise(env, now_and_then, flakiness=0))


@pytest.mark.parametrize(
    "minimise", [minimize_trajectory_iteratively, random_minimization, bisect_trajectory]
)
def test_nothing_is_tested_of_an_episode_without_actions(env: LlvmEnv, minimise: Minimise) -> None:
    play(env, *())
    assert list(minimise(env, never("tested"))) == []


@pytest.mark.parametrize(("reverse", "left"), [(False, list(range(8))), (True, list(range(7, 20)))])
def test_the_end_or_the_beginning_is_cut_off(env: LlvmEnv, reverse: bool, left: list[int]) -> None:
    play(env, *range(20))
    tests = list(bisect_trajectory(env, holds(7), reverse=reverse))
    assert env.actions == left
    assert len(tests) <= 6


def test_a_hypothesis_that_is_not_monotone_still_ends_in_a_true_one(env: LlvmEnv) -> None:
    play(env, *range(16))
    for _ in bisect_trajectory(env, lambda e: len(e.actions) in (3, 9, 16)):
        pass
    assert len(env.actions) in (3, 9, 16)


@pytest.mark.parametrize(
    "minimise", [minimize_trajectory_iteratively, random_minimization, bisect_trajectory]
)
def test_a_hypothesis_that_is_false_at_first_is_refused(env: LlvmEnv, minimise: Minimise) -> None:
    play(env, 1, 2)
    with pytest.raises(MinimizationError, match=r"false for the whole episode .2 actions"):
        list(minimise(env, always(False)))


def test_the_caller_may_stop_early(env: LlvmEnv) -> None:
    play(env, *range(10))
    assert next(iter(minimize_trajectory_iteratively(env, holds(1)))) is env


def test_the_default_keeps_a_failed_validation(
    env: LlvmEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Result:
        def __init__(self, okay: bool) -> None:
            self.okay = lambda: okay

    monkeypatch.setattr(LlvmEnv, "validate", stand_in(lambda self: Result(5 not in self.actions)))
    play(env, *range(10))
    for _ in minimize_trajectory_iteratively(env):
        pass
    assert env.actions == [5]


def test_a_reward_is_kept_with_fewer_actions(env: LlvmEnv) -> None:
    names = ("sroa", "always-inline", "instcombine", "strip", "simplifycfg")
    play(env, *(env.action_space[name] for name in names if name in env.action_space.names))
    goal = env.episode_reward
    assert goal is not None
    for _ in minimize_trajectory_iteratively(env, lambda e: (e.episode_reward or 0) >= goal):
        pass
    assert env.episode_reward == goal
    assert env.action_space["always-inline"] not in env.actions
