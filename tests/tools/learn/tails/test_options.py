# SPDX-License-Identifier: MIT
"""The parameters of a run that learns tails."""

from typing import Any, cast

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import list_options
from compiler_gym.tools.learn.tails import TailOptions

NUMBERS = [name for name, declared in list_options(TailOptions).items() if declared.range]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_value_below_its_least_is_refused(name: str):
    with pytest.raises(InvalidParameterError, match=name):
        TailOptions(**cast("dict[str, Any]", {name: -1}))
