# SPDX-License-Identifier: MIT
"""Reports are compared by owner, and sizes are read as people write them."""

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.sizes import (
    Grouping,
    Owner,
    SizeChange,
    compare_owners,
    measure_file,
    parse_size,
)

from .conftest import MAIN, Build


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("200kB", 200_000), ("200 kB", 200_000), ("200k", 200_000), ("1.5MB", 1_500_000),
        ("64KiB", 65_536), ("2MiB", 2 << 20), ("204800", 204_800), ("204,800 B", 204_800),
        ("1_000", 1000), ("0.1MB", 100_000), ("9007199254740993", 9007199254740993),
    ],
)  # fmt: skip
def test_a_size_is_a_number_with_a_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "", "much", "-3", "200 GB", "kB", "1.2.3kB", "1e6", "0x10", "inf", "nan", "1.5", "200.000",
        "1.500,5", "1,50,000", ",5MB", "1,5", "\uff11\uff15", "9" * 400,
    ],
)  # fmt: skip
def test_an_invalid_size_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameterError, match="give a number of bytes, such as 200kB"):
        parse_size(text)


@pytest.mark.parametrize(("text", "point"), [("1,5MB", "1.5MB"), ("1,500 kB", "1.500 kB or 1500")])
def test_a_comma_before_a_unit_is_not_guessed(text: str, point: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"'{text}': .*, such as {point}"):
        parse_size(text)


def test_the_largest_change_is_first() -> None:
    before = [Owner("a", 100, 20), Owner("b", 50), Owner("c", 7)]
    after = [Owner("a", 90, 20), Owner("c", 7), Owner("d", 60, 4)]
    changes = compare_owners(before, after)
    assert changes == [SizeChange("d", 0, 64), SizeChange("b", 50, 0), SizeChange("a", 120, 110)]
    assert [change.growth for change in changes] == [64, -50, -10]


def test_a_grown_function_is_found_between_builds(build: Build) -> None:
    grown = MAIN.replace("int all = 0;", 'int all = 0; puts("more"); puts("and more");')
    before, after = (measure_file(build(text, "gcc -O1")) for text in (MAIN, grown))
    changes = compare_owners(before.owners[Grouping.FUNCTION], after.owners[Grouping.FUNCTION])
    assert [change.name for change in changes] == ["sum"]
    assert changes[0].growth > 10
    same = compare_owners(before.owners[Grouping.FUNCTION], before.owners[Grouping.FUNCTION])
    assert same == []


def test_the_report_as_json_adds_up(build: Build) -> None:
    document = measure_file(build("c", "gcc -O2")).to_json()
    assert sum(size["total"] for size in document["parts"].values()) == document["total"]
    assert sum(size["loaded"] for size in document["parts"].values()) == document["loaded"]
    assert {row["name"] for row in document["owners"]["function"]} >= {"main", "sum", "table"}
    assert {"strip", "our policy"} <= {row["name"] for row in document["remedies"]}
