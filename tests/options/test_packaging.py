"""What is built is said in one way, and limits are numbers that limit."""

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import PackageChoice, PackageLimits


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
