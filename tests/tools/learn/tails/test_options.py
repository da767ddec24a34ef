# SPDX-License-Identifier: MIT
"""The parameters of a run that learns tails."""

from dataclasses import fields

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.tails import TailOptions


@pytest.mark.parametrize("name", [field.name for field in fields(TailOptions)])
def test_a_value_below_its_least_is_refused(name: str):
    with pytest.raises(InvalidParameterError, match=name):
        TailOptions(**{name: -1})
