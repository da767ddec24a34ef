# SPDX-License-Identifier: MIT
"""The first failing number and the needed items are found with few tests."""

import pytest

from compiler_gym.search.shrinking import Shrinking, shrink, smallest_failing


@pytest.mark.parametrize("first", [0, 1, 499, 999, 1000])
def test_the_smallest_failing_number_is_found_in_few_tests(first: int) -> None:
    tested: list[int] = []

    def fails(number: int) -> bool:
        tested.append(number)
        return number >= first

    assert smallest_failing(1000, fails) == first
    assert len(tested) <= 10


def test_only_needed_items_are_left() -> None:
    parts = list(shrink(range(20), lambda part: {3, 11} <= {*part}))
    assert parts[-1] == (3, 11)
    assert [len(part) for part in parts] == sorted({len(part) for part in parts}, reverse=True)
    assert list(shrink("ab", lambda part: False)) == []


def test_failures_widen_the_batch_and_a_success_narrows_it() -> None:
    shrinking = Shrinking("abcd")
    widths: list[int] = []
    while batch := shrinking.ask():
        widths.append(len(batch))
        good = next((i for i, items in enumerate(batch) if {"a", "d"} <= set(items)), None)
        shrinking.tell(len(batch) if good is None else good, None if good is None else batch[good])
    assert "".join(shrinking.items) == "ad"
    assert widths == [1, 1, 4, 1, 1, 2]
