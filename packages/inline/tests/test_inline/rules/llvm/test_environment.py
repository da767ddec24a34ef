# SPDX-License-Identifier: MIT
"""The environment passes the public suite, and rewards loaded bytes."""

from collections.abc import Iterator
from typing import ClassVar

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import EnvironmentConformance


class TestLlvmRule(EnvironmentConformance):
    env_id = "llvm-rule-v0"
    kwargs: ClassVar = {
        "benchmark": "benchmark://rule-programs-v0/crc32",
        "observation_space": "RuleEffect",
        "reward_space": "LoadedBytes",
    }
    action_spaces = ("LinkerRules",)
    observations = ("RuleText", "RuleEffect", "LoadedBytes", "RuleInputs")
    steps = 4


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
    with compiler_gym.make(
        "llvm-rule-v0", observation_space="RuleEffect", reward_space="LoadedBytes"
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
        assert problem in env.observation["RuleProblem"]
        assert effect["rule"] == "frame = 0"
    assert env.observation["LoadedBytes"] == before


def test_a_rule_that_breaks_a_program_ends_the_episode_and_earns_nothing(
    env: CompilerEnv,
) -> None:
    env.step("frame = 0")
    assert env.episode_reward != 0
    env.send_param("rule.seconds", "0.01")
    _, _, terminated, truncated, _ = env.step("inline = arguments > 0")
    assert terminated
    assert not truncated
    assert "is broken: its link takes more than 0.01 s" in env.observation["RuleProblem"]
    assert env.episode_reward == 0


def test_the_command_line_is_the_rule_and_replays_the_episode(env: CompilerEnv) -> None:
    for text in ("inline = cost < 5", "frame = loops", "frame = calls > 1; inline ="):
        env.step(text)
    assert env.commandline() == "frame = calls > 1"
    assert env.commandline_to_actions(env.commandline()) == ["frame = calls > 1"]
    assert env.validate().okay()


def test_the_time_limit_has_bounds(env: CompilerEnv) -> None:
    with pytest.raises(InvalidParameterError, match="at most 3600"):
        env.send_param("rule.seconds", "nan")
