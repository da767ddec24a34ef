# SPDX-License-Identifier: MIT
"""The limits of a worker are bounds, and are told when they are none."""

from typing import Any

import numpy as np
import pytest

from compiler_gym import options, service
from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.options import Limits


def test_the_service_hands_on_the_record() -> None:
    assert service.Limits is options.Limits


@pytest.mark.parametrize(
    "name",
    ["step_seconds", "memory_bytes", "growth", "growth_floor", "kept_programs", "kept_bytes"],
)
@pytest.mark.parametrize(
    "value", [float("nan"), -1, -0.5, "10", b"1", None, True, [1], 1j, 1 << 5000]
)
def test_an_invalid_bound_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidParameterError, match=f"{name} must be "):
        Limits(**{name: value})


@pytest.mark.parametrize("value", [0, float("inf"), 1e300])
def test_a_step_ends_at_some_time(value: float) -> None:
    with pytest.raises(InvalidParameterError, match="step_seconds"):
        Limits(step_seconds=value)


def test_whole_numbers_may_be_numpys() -> None:
    found = Limits(step_seconds=np.float32(2), memory_bytes=np.int64(1 << 30), growth=np.int8(3))  # type: ignore[arg-type]
    assert found.memory_bytes == 1 << 30
    assert Limits(memory_bytes=0, growth=0, growth_floor=0).growth == 0


def test_a_sandbox_is_one_that_there_is() -> None:
    assert Limits(sandbox="limits").sandbox == "limits"
    with pytest.raises(UnknownNameError, match="no sandbox 'limit': did you mean limits"):
        Limits(sandbox="limit")
