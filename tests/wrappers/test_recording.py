# SPDX-License-Identifier: MIT
"""What is recorded has a form in JSON, or is refused."""

import json
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import RecordingError
from compiler_gym.wrappers._recording import require_json, write_json_text


@given(st.recursive(st.integers() | st.text() | st.none(), st.lists))
def test_plain_values_are_json_as_they_are(value: Any) -> None:
    assert json.loads(write_json_text(value)) == value


def test_arrays_and_bytes_have_a_form_in_json() -> None:
    value = {"array": np.arange(3), "number": np.float64(0.5), "bytes": b"\x01\xff"}
    assert json.loads(write_json_text(value)) == {
        "array": [0, 1, 2],
        "number": 0.5,
        "bytes": "01ff",
    }


@pytest.mark.parametrize("value", [{1, 2}, object(), {("a",): 1}])
def test_what_has_no_form_in_json_is_refused(value: Any) -> None:
    with pytest.raises(RecordingError, match="JSON form"):
        write_json_text({"seen": value} if not isinstance(value, dict) else value)


def test_a_value_within_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecordingError, match="JSON form"):
        write_json_text(value)


def test_asking_what_a_space_holds_draws_nothing_from_it() -> None:
    space = gymnasium.spaces.Box(0, 1, (2,))
    space.seed(3)
    require_json(space)
    first = space.sample()
    space.seed(3)
    assert (space.sample() == first).all()
