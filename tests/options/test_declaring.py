# SPDX-License-Identifier: MIT
"""A field says what kind of option it is, and everybody reads it there."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import (
    ABOVE_0,
    FROM_0,
    WHOLE_ABOVE_0,
    WHOLE_FROM_0,
    Range,
    check,
    list_options,
    option,
    to_plain,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Oven:
    """A record for these tests."""

    degrees: float = option(180.0, "How hot it is", ABOVE_0)
    trays: int | None = option(None, "How many there are", WHOLE_ABOVE_0, may_change=True)
    colour: str = "white"

    def __post_init__(self) -> None:
        check(self)


def test_only_options_are_declared() -> None:
    assert list(list_options(Oven)) == list(list_options(Oven())) == ["degrees", "trays"]
    assert list_options(Oven)["degrees"].help == "How hot it is"
    assert [one.may_change for one in list_options(Oven).values()] == [False, True]


def test_a_record_as_json_holds_every_option() -> None:
    assert to_plain(Oven(trays=3)) == {"degrees": 180.0, "trays": 3}


@pytest.mark.parametrize("wrong", [0, -1.5, math.inf, math.nan, True, "180", None, 1j])
def test_a_value_out_of_range_is_refused_with_the_name_of_its_field(wrong: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"degrees must be a number above 0"):
        Oven(degrees=wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", False])
def test_none_is_left_out_where_it_is_the_default(wrong: Any) -> None:
    assert Oven().trays is None
    with pytest.raises(InvalidParameterError, match=r"trays must be a whole number"):
        Oven(trays=wrong)


@pytest.mark.parametrize(
    ("range", "least"), [(FROM_0, 0), (WHOLE_FROM_0, 0), (WHOLE_ABOVE_0, np.int64(1))]
)
def test_the_least_number_of_a_range_is_in_it(range: Range, least: Any) -> None:
    range.check("it", least)
    with pytest.raises(InvalidParameterError, match="it must be"):
        range.check("it", least - 1)
