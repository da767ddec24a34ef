# SPDX-License-Identifier: MIT
"""Limits on the command line are those of a worker."""

import math

import pytest

from compiler_gym.cli._limits import limits_of
from compiler_gym.errors import InvalidParameterError
from compiler_gym.service import Limits


def test_what_is_not_given_is_not_handed_on() -> None:
    assert limits_of() == {}
    assert limits_of(2.5) == {"limits": Limits(step_seconds=2.5)}
    assert limits_of(memory_gib=0.5) == {"limits": Limits(memory_bytes=1 << 29)}


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_what_bounds_nothing_is_refused(value: float) -> None:
    with pytest.raises(InvalidParameterError, match=r"--step-seconds is .*above 0"):
        limits_of(value)
    with pytest.raises(InvalidParameterError, match=r"--memory-gib is .*above 0"):
        limits_of(memory_gib=value)
