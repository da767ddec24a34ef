# SPDX-License-Identifier: MIT
"""Results of a validation are joined, compared and written."""

import json
from dataclasses import replace

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.validation import (
    ValidationError,
    ValidationResult,
    climb,
)

from .conftest import FINE, WRONG, make_env


def test_results_of_one_state_are_joined(state: CompilerEnvState) -> None:
    results = [climb(state, make_env, [rung]) for rung in (FINE, WRONG)]
    joined = ValidationResult.join(results)
    assert len(joined.rungs) == 4
    assert not joined.okay()


def test_results_of_several_states_are_not_joined(state: CompilerEnvState) -> None:
    other = replace(state, benchmark="benchmark://fake-v0/other")
    with pytest.raises(ValueError, match="different states"):
        ValidationResult.join([ValidationResult(state, 1.0), ValidationResult(other, 1.0)])
    with pytest.raises(ValueError, match="no results to join"):
        ValidationResult.join([])


def test_results_are_equal_if_they_say_the_same(state: CompilerEnvState) -> None:
    errors = (ValidationError("a", {"at": 1}), ValidationError("b"))
    one = ValidationResult(state, 1.0, errors=errors)
    assert one == ValidationResult(state, 9.0, errors=errors[::-1])
    assert one != ValidationResult(state, 1.0, errors=errors[:1])
    assert one != ValidationResult(state, 1.0, reward_validated=True, errors=errors)
    assert len({one, ValidationResult(state, 9.0, errors=errors)}) == 1
    assert json.loads(one.json())["errors"][0] == {"type": "a", "data": {"at": 1}}
    assert str(one) == f"{state.benchmark.removeprefix('benchmark://')}: a, at=1; b"
    with pytest.raises(ValueError, match=r"walltime must be at least 0"):
        ValidationResult(state, -1.0)


def test_a_result_says_in_a_line_what_is_known(state: CompilerEnvState) -> None:
    fine, wrong = (climb(state, make_env, [rung]) for rung in (FINE, WRONG))
    assert str(fine) == "fake-v0/7: okay, reward -1.0000"
    assert str(wrong) == "fake-v0/7: broken, at=1"
    document = json.loads(wrong.json())
    assert document["okay"] is False
    assert [rung["verdict"] for rung in document["rungs"]] == ["ok", "failed"]


def test_impossible_results_are_refused(state: CompilerEnvState) -> None:
    for walltime in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="must be at least 0"):
            ValidationResult(state, walltime)
    with pytest.raises(ValueError, match="no results to join"):
        ValidationResult.join([])
