# SPDX-License-Identifier: MIT
"""Many states are validated, each by itself."""

from dataclasses import replace

import pytest

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import UnknownNameError
from compiler_gym.testing import FakeEnv
from compiler_gym.validation import (
    ValidationResult,
    choose_rungs,
    climb,
    validate_states,
)

from .conftest import FINE, make_env


class Validating(FakeEnv):
    def validate(self, state: CompilerEnvState | None = None) -> ValidationResult:
        assert state is not None
        return climb(state, make_env)


def test_many_states_are_validated_and_come_in_order_if_asked(state: CompilerEnvState) -> None:
    states = [replace(state, walltime=float(i)) for i in range(7)]
    states[3] = replace(state, benchmark="benchmark://fake-v0/none")
    make = lambda: Validating(isolation="in-process", reward_space="number")  # noqa: E731 - one line
    results = list(validate_states(make, iter(states), nproc=2, inorder=True))
    assert [result.state.walltime for result in results if result.okay()] == [0, 1, 2, 4, 5, 6]
    assert len(list(validate_states(make, states))) == 7


def test_an_environment_without_a_validator_gives_unknown_results(
    state: CompilerEnvState,
) -> None:
    (result,) = validate_states(make_env, [state])
    assert "FakeEnv has no validator" in result.error_details


class Choosing(FakeEnv):
    def validate(
        self, state: CompilerEnvState | None = None, rungs: object = ()
    ) -> ValidationResult:
        assert state is not None
        return climb(state, make_env, choose_rungs([FINE], rungs))  # type: ignore[arg-type]


def test_checks_that_there_are_not_are_an_error_of_the_request(state: CompilerEnvState) -> None:
    choosing = lambda: Choosing(isolation="in-process", reward_space="number")  # noqa: E731 - one line
    (result,) = validate_states(choosing, [state], rungs=["fine"])
    assert [rung.name for rung in result.rungs] == ["replay", "fine"]
    with pytest.raises(UnknownNameError, match="no rung 'nope'"):
        list(validate_states(choosing, [state], rungs=["nope"]))


def test_all_checks_of_an_environment_with_one_are_that_one(state: CompilerEnvState) -> None:
    make = lambda: Validating(isolation="in-process", reward_space="number")  # noqa: E731 - one line
    (result,) = validate_states(make, [state], rungs=None)
    assert [rung.name for rung in result.rungs] == ["replay"]
    with pytest.raises(UnknownNameError, match="do not name any"):
        list(validate_states(make, [state], rungs=["replay"]))


def test_closing_early_stops(state: CompilerEnvState) -> None:
    asked: list[int] = []

    def states():  # type: ignore[no-untyped-def]  # a generator of states
        for i in range(1000):
            asked.append(i)
            yield state

    results = validate_states(make_env, states(), nproc=1)
    next(results)
    results.close()
    assert len(asked) < 10
