# SPDX-License-Identifier: MIT
"""Limits are checked, and their defaults hold."""

from typing import Any

import numpy as np
import pytest

from compiler_gym import options, service
from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.options import (
    ArchiveLimits,
    Limits,
    PackageChoice,
    PackageLimits,
    ReadOptions,
    list_options,
)


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


def test_an_archive_may_unpack_to_a_multiple_of_its_size_and_to_little_at_any() -> None:
    limits = ArchiveLimits(max_bytes=10_000, max_ratio=10, small=100)
    assert [limits.limit_bytes(size) for size in (1, 50, 5000)] == [100, 500, 10_000]


def test_the_command_line_offers_what_a_user_knows_of_programs() -> None:
    offered = {name: one.spelling.name or name for name, one in list_options(ReadOptions).items()}
    assert list(offered.values()) == ["suffix", "license", "source", "language"]
    assert ".c" in ReadOptions().suffixes


@pytest.mark.parametrize("fields", [{}, {"lock": "a", "count": 3}, {"lock": "a", "packages": "b"}])
def test_packages_are_chosen_in_one_way(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidParameterError, match="exactly one of --lock FILE"):
        PackageChoice(**fields).require_one()  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("fields", [{"count": 0}, {"count": 1.5}, {"count": 2, "seed": -1}])
def test_a_count_is_a_whole_number(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidParameterError, match="must be a whole number"):
        PackageChoice(**fields)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize("name", ["seconds", "memory_bytes", "disk_bytes", "processes"])
def test_a_limit_is_above_zero(name: str) -> None:
    with pytest.raises(InvalidParameterError, match=name):
        PackageLimits(**{name: 0})
