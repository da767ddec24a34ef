# SPDX-License-Identifier: MIT
"""The toy passes the public suites, and its rules keep what a program prints."""

import random
from typing import Any, ClassVar

import pytest
from stack_language._language import RULES, parse, run, sites, text
from stack_language.datasets import GeneratedPrograms

import compiler_gym
from compiler_gym.datasets import Benchmark
from compiler_gym.service import SessionSource
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.testing import EnvironmentConformance, SessionConformance
from compiler_gym.wrappers import TimeLimit


class TestSession(SessionConformance):
    source = SessionSource("stack_language.session:StackSession")
    programs = (Benchmark("benchmark://mine-v0/1", b"push 1\npush 2\nadd\nprint\n"),)
    bad_programs = (b"jump 3", b"push", b"push x", b"add", b"\xff")


class TestEnvironment(EnvironmentConformance):
    env_id = "stack-v0"
    kwargs: ClassVar = {"observation_space": "Opcodes", "reward_space": "CyclesNorm"}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_keeps_what_a_program_prints(rule: str) -> None:
    applied = 0
    for number in range(60):
        program = parse(GeneratedPrograms()[str(number)].contents)
        for at in sites(program, rule):
            count, instead = RULES[rule](program, at) or (0, ())
            rewritten = [*program[:at], *instead, *program[at + count :]]
            assert run(rewritten) == run(program)
            applied += 1
    assert applied


def test_a_program_survives_being_written() -> None:
    for number in range(20):
        program = parse(GeneratedPrograms()[str(number)].contents)
        assert parse(text(program).encode()) == program


def test_an_episode_is_validated_by_running_the_program() -> None:
    with compiler_gym.make("stack-v0", reward_space="Size") as env:
        env.reset()
        for name in ("double", "identity", "forward", "undo"):
            env.step(env.action_space[name])
        assert env.episode_reward == 4
        result = env.validate()
        assert result.okay(), result.error_details
        assert result.benchmark_semantics_validated


def test_actions_are_written_as_a_command_line() -> None:
    with compiler_gym.make("stack-v0") as env:
        env.reset()
        env.multistep([env.action_space["fold"], env.action_space["undo"]])
        assert env.commandline() == "--fold --undo"
        assert env.commandline_to_actions("--fold --undo") == env.actions


def test_one_place_at_a_time_ends_when_none_is_left() -> None:
    choose = random.Random(1)
    with compiler_gym.make("stack-v0", action_space="Sites", observation_space="Size") as env:
        before, _ = env.reset(benchmark="benchmark://stack-generator-v0/5")
        size, terminated = before, False
        while not terminated:
            action = choose.randrange(env.action_space.n)
            size, _, terminated, truncated, _ = env.step(action)
            assert not truncated
        assert size < before


def test_caches_wrappers_and_vectors_know_it() -> None:
    arguments: dict[str, Any] = {"observation_space": "Opcodes", "reward_space": "Size"}
    cache = TranspositionCache()
    plain = compiler_gym.make("stack-v0", **arguments)
    cached = compiler_gym.make("stack-v0", **arguments, cache=cache)
    limited = TimeLimit(compiler_gym.make("stack-v0", **arguments), max_episode_steps=4)
    vector = compiler_gym.make_vec("stack-v0", 2, **arguments)
    try:
        vector.reset()
        for _ in range(2):
            for env in (plain, cached, limited):
                env.reset()
            for action in (4, 1, 5, 2):
                wanted = plain.step(action)
                for env in (cached, limited):
                    found = env.step(action)
                    assert found[0].tolist() == wanted[0].tolist()
                    assert found[1] == wanted[1]
            assert found[3]  # four steps are the limit
        assert cache.statistics.hits > 0
        observations, *_ = vector.step([4, 4])
        assert observations[0].tolist() == observations[1].tolist()
    finally:
        for env in (plain, cached, limited, vector):
            env.close()
