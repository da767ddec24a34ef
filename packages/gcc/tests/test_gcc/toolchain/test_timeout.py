# SPDX-License-Identifier: MIT
"""How long GCC may take is a number of seconds."""

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym_gcc.toolchain.timeout import check_timeout


def test_text_and_numbers_are_taken() -> None:
    assert (check_timeout("2.5"), check_timeout(3)) == (2.5, 3.0)


@pytest.mark.parametrize("value", ["", "soon", "nan", "inf", 0, -1.0, float("inf")])
def test_an_invalid_time_is_refused(value: str | float) -> None:
    with pytest.raises(InvalidParameterError, match="timeout must be above 0 seconds"):
        check_timeout(value)
