# SPDX-License-Identifier: MIT
"""A state is replayed, and then every rung is asked that makes sense for it."""

from collections.abc import Callable

import pytest

from compiler_gym.datasets import RunCase, RunSpec
from compiler_gym.errors import UnknownNameError
from compiler_gym.validation import Verdict
from compiler_gym_gcc import GccEnv, make_benchmark_from_source
from compiler_gym_gcc.validation import RUNGS

Make = Callable[..., GccEnv]


def test_validation_runs_the_program(make_env: Make) -> None:
    env = make_env(reward_space="obj_size")
    env.reset()
    env.step(env.action_space["-O2"])
    result = env.validate()
    assert result.okay(), result.error_details
    assert result.benchmark_semantics_validated
    assert [(rung.name, rung.verdict) for rung in result.rungs] == [
        ("replay", Verdict.OK),
        ("run", Verdict.OK),
    ]


def test_validation_sees_an_option_that_changes_the_program(make_env: Make) -> None:
    source = """
        #include <stdio.h>
        enum e { A, B };
        int main(void) { printf("%d\\n", (int)sizeof(enum e)); return 0; }
    """
    program = make_benchmark_from_source(source, run=RunSpec((RunCase(),)))
    env = make_env(benchmark=program)
    env.reset()
    assert env.validate().okay()
    env.step(env.action_space["-fshort-enums"])
    result = env.validate()
    assert result.benchmark_semantics_validation_failed
    assert "expected '4', got '1'" in result.error_details


def test_rungs_are_chosen_by_their_names(make_env: Make) -> None:
    assert [rung.name for rung in RUNGS] == ["run"]
    env = make_env()
    env.reset()
    assert [rung.name for rung in env.validate(rungs=()).rungs] == ["replay"]
    with pytest.raises(UnknownNameError, match="no rung 'msan'; there are replay, run"):
        env.validate(rungs=("msan",))
