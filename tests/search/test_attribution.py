# SPDX-License-Identifier: MIT
"""What each action gained, and what the episode is worth without it."""

from collections.abc import Iterator

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import InvalidParameterError
from compiler_gym.search import attribute

from .puzzle import NOTHING, OPEN, SAVE, TRIM, make_puzzle


@pytest.fixture
def puzzle() -> Iterator[CompilerEnv]:
    with make_puzzle() as made:
        yield made


def test_an_action_that_earns_nothing_may_be_what_another_one_needs(puzzle: CompilerEnv) -> None:
    puzzle.reset()
    puzzle.multistep([TRIM, OPEN, NOTHING, SAVE])
    found = attribute(puzzle)
    assert [(one.number, one.action) for one in found] == [
        (1, "trim"), (2, "open"), (3, "nothing"), (4, "save"),
    ]  # fmt: skip
    assert [one.gained for one in found] == [1.0, 0.0, 0.0, 40.0]
    assert [one.cost_of_removal for one in found] == [1.0, 40.0, 0.0, 40.0]
    assert [one.had_effect for one in found] == [True, True, False, True]


def test_the_episode_is_left_as_it_was(puzzle: CompilerEnv) -> None:
    puzzle.reset()
    puzzle.multistep([OPEN, SAVE])
    attribute(puzzle)
    assert puzzle.actions == [OPEN, SAVE]
    assert puzzle.episode_reward == 40.0
    puzzle.reset()
    assert attribute(puzzle) == []


def test_without_a_reward_there_is_nothing_to_contribute_to(puzzle: CompilerEnv) -> None:
    puzzle.reward_space = None
    puzzle.reset()
    with pytest.raises(InvalidParameterError, match="set a reward space"):
        attribute(puzzle)


@pytest.fixture
def env() -> Iterator[LlvmEnv]:
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        assert isinstance(env, LlvmEnv)
        env.reset(benchmark="cbench-v1/crc32")
        yield env


def play(env: LlvmEnv, *actions: int) -> None:
    env.reset(benchmark="cbench-v1/crc32")
    env.multistep(actions)


def test_contributions_are_those_of_replays_without_each_action(env: LlvmEnv) -> None:
    actions = [env.action_space[name] for name in ("sroa", "always-inline", "instcombine")]
    play(env, *actions)
    total, sha = env.episode_reward, env.ir_sha1
    found = attribute(env)
    assert [c.action for c in found] == ["sroa", "always-inline", "instcombine"]
    assert sum(c.gained for c in found) == total
    assert [c.had_effect for c in found] == [True, False, True]
    assert found[1].cost_of_removal == 0
    play(env, actions[1], actions[2])
    assert total is not None
    assert env.episode_reward is not None
    assert found[0].cost_of_removal == pytest.approx(total - env.episode_reward)
    play(env, *actions)
    assert env.ir_sha1 == sha
