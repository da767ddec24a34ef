# SPDX-License-Identifier: MIT
"""A policy of features plays an episode, and only truths are answers."""

from typing import Any

import numpy as np
import pytest

import compiler_gym
from compiler_gym.envs.llvm import make_benchmark_from_source
from compiler_gym.errors import PolicyAnswerError, PolicyCrashedError
from compiler_gym_inline.llvm import FeaturePolicy
from tests.stand_ins import always, stand_in

CALL = np.zeros(39, np.int64)


@pytest.mark.parametrize("answer", [True, 1, np.int64(1), np.bool_(True)])
def test_truths_are_answers(answer: Any) -> None:
    with FeaturePolicy.of(always(answer)).compilation() as decide:
        assert decide(CALL) is True


@pytest.mark.parametrize("answer", [None, 2, -1, "1", 1.0, [1]])
def test_anything_else_is_refused(answer: Any) -> None:
    policy = FeaturePolicy.of(always(answer))
    wanted = "return 1 to inline the call, or 0"
    with policy.compilation() as decide, pytest.raises(PolicyAnswerError, match=wanted):
        decide(CALL)


def test_a_policy_that_raises_is_a_typed_error() -> None:
    policy = FeaturePolicy.of(stand_in(lambda _: 1 // 0))
    wanted = "ZeroDivisionError"
    with policy.compilation() as decide, pytest.raises(PolicyCrashedError, match=wanted):
        decide(CALL)


def test_a_class_has_an_object_for_each_compilation() -> None:
    class Once:
        """Inlines one call."""

        def __init__(self) -> None:
            self.left = 1

        def __call__(self, features: Any) -> bool:
            self.left -= 1
            return self.left >= 0

    policy = FeaturePolicy.of(Once)
    for _ in range(2):
        with compiler_gym.make("llvm-inline-v0", benchmark="cbench-v1/sha") as env:
            env.reset()
            policy(env)
            assert env.observation["InlineDecisions"].count("i") == 1


def test_a_program_without_calls_has_no_questions() -> None:
    policy = FeaturePolicy.of(always(None))
    source = "int one(void) { return 1; }"
    with compiler_gym.make("llvm-inline-v0") as env:
        env.reset(benchmark=make_benchmark_from_source(source))
        policy(env)
        assert not env.in_episode
    assert policy.asked == 0
