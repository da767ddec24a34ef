# SPDX-License-Identifier: MIT
"""Options count more than fields, and what was not given stays as it is."""

import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.core import OptionalArgumentValue, ResetArguments, StepArguments

UNCHANGED = OptionalArgumentValue.UNCHANGED
NAMES = ("benchmark", "action_space", "observation_space", "reward_space", "timeout")
SPACES = ("observation_space", "reward_space")
VALUES = st.none() | st.text(max_size=3)


def test_omitted_arguments_are_not_named() -> None:
    assert ResetArguments().list_given() == {}
    assert ResetArguments(seed=3, options={"benchmark": "a/b"}).list_given() == {}


def test_none_takes_a_space_away_and_leaves_everything_else() -> None:
    nothing = ResetArguments(None, None, None, None, None, None, None)
    assert nothing.list_given() == {"observation_space": None, "reward_space": None}


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_given_arguments_round_trip(fields: dict[str, Any]) -> None:
    asked = ResetArguments(**fields)
    assert ResetArguments(**asked.list_given()) == asked


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES), VALUES),
    st.dictionaries(st.sampled_from((*NAMES, "seed", "reset_mask", "mine")), VALUES),
    st.none() | st.integers(0, 9),
)
def test_options_count_more_than_fields(
    fields: dict[str, Any], options: dict[str, Any], seed: int | None
) -> None:
    before = dict(options)
    settled = ResetArguments(seed, options, **fields).settle()
    assert options == before
    assert settled.seed == seed, "an option is no seed: Gymnasium has an argument for it"
    for name in NAMES:
        default = UNCHANGED if name in SPACES else None
        assert getattr(settled, name) == options.get(name, fields.get(name, default))
    assert settled.settle() == settled


@pytest.mark.parametrize("options", [None, {}])
def test_without_options_nothing_needs_settling(options: dict[str, Any] | None) -> None:
    asked = ResetArguments(1, options, "a/b")
    assert asked.settle() is asked


def test_none_in_options_is_what_none_in_a_field_is() -> None:
    options: dict[str, Any] = dict.fromkeys(NAMES)
    settled = ResetArguments(None, options, "a/b", "Safe", "number", "cost", 3.0).settle()
    assert settled == ResetArguments(None, None, None, None, None, None, None)


def test_the_records_do_not_change_and_can_be_sent() -> None:
    for asked in (ResetArguments(1, {"benchmark": "a/b"}), StepArguments([1, 2], "number")):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'timeout'"):
            asked.timeout = 1.0  # type: ignore[misc]  # the mistake under test
        assert pickle.loads(pickle.dumps(asked)) == asked
    assert pickle.loads(pickle.dumps(ResetArguments())).observation_space is UNCHANGED
