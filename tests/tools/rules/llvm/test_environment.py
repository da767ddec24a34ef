# SPDX-License-Identifier: MIT
"""The environment passes the public suite, and rewards loaded bytes."""

from collections.abc import Iterator
from typing import ClassVar

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidActionError, InvalidParameterError
from compiler_gym.testing import EnvironmentConformance


class TestLlvmRule(EnvironmentConformance):
    env_id = "llvm-rule-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://rule-programs-v0/crc32",
        "observation_space": "Effect",
        "reward_space": "LoadedBytes",
    }
    action_spaces = ("Rule",)
    observations = ("Rule", "Effect", "LoadedBytes", "Inputs")
    steps = 4


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
    with compiler_gym.make(
        "llvm-rule-v0", observation_space="Effect", reward_space="LoadedBytes"
    ) as env:
        env.reset()
        yield env


def test_the_reward_is_the_number_of_loaded_bytes_saved(env: CompilerEnv) -> None:
    effect, reward, terminated, *_ = env.step("inline = 0")
    assert not terminated
    saved = sum(row["plain"] - row["loaded"] for row in effect["programs"])
    assert reward == saved != 0
    *_, back, _, _, _ = env.step("inline = default")
    assert reward + back == 0 == env.episode_reward


def test_a_text_that_is_not_a_rule_changes_nothing_but_the_problem(env: CompilerEnv) -> None:
    env.step("frame = 0")
    before = env.observation["LoadedBytes"]
    for text, problem in (("hello", "is not a rule"), ("frame = loops", "no input 'loops'")):
        effect, reward, terminated, truncated, _ = env.step(text)
        assert (reward, terminated, truncated) == (0, False, False)
        assert problem in effect["problem"]
        assert effect["rule"] == "frame = 0"
    assert env.observation["LoadedBytes"] == before


def test_a_rule_that_breaks_a_program_ends_the_episode_and_earns_nothing(
    env: CompilerEnv,
) -> None:
    env.step("frame = 0")
    assert env.episode_reward != 0
    env.send_param("rule.seconds", "0.01")
    effect, _, terminated, truncated, _ = env.step("inline = arguments > 0")
    assert terminated
    assert not truncated
    assert "is broken: its link takes more than 0.01 s" in effect["problem"]
    assert env.episode_reward == 0


def test_the_episode_is_replayed_from_its_command_line(env: CompilerEnv) -> None:
    env.step("inline = cost < 5")
    env.step("frame = default; inline =")
    assert env.commandline_to_actions(env.commandline()) == env.actions
    assert env.validate().okay()
    with pytest.raises(InvalidActionError, match="not a JSON list"):
        env.commandline_to_actions("frame = 0")


def test_the_time_limit_has_bounds(env: CompilerEnv) -> None:
    with pytest.raises(InvalidParameterError, match="at most 3600"):
        env.send_param("rule.seconds", "nan")
