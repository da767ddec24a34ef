# SPDX-License-Identifier: MIT
import math

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.search import Budget


@pytest.mark.parametrize(
    "bounds", [{}, {"seconds": 0}, {"seconds": -1}, {"seconds": math.inf}, {"steps": 0}]
)
def test_a_budget_without_an_end_or_without_a_beginning_is_refused(
    bounds: dict[str, float],
) -> None:
    with pytest.raises(InvalidParameterError, match=r"set seconds|must be|expected"):
        Budget(**bounds)  # type: ignore[arg-type]


def test_time_is_kept_back_for_shortening_the_result() -> None:
    assert 0 < Budget(seconds=10).searching_seconds < Budget(seconds=10).total_seconds == 10
    assert Budget(steps=1).total_seconds == math.inf
