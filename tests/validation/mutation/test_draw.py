# SPDX-License-Identifier: MIT
"""Lots are drawn the same way everywhere."""

import pytest

from compiler_gym.validation import Draw


def test_a_seed_always_draws_the_same_numbers() -> None:
    draw = Draw("17 3")
    assert [draw.below(1000) for _ in range(6)] == [87, 590, 187, 705, 758, 736]


@pytest.mark.parametrize("length", [0, 1, 5, 1000])
def test_a_span_lies_inside_and_is_no_longer_than_asked(length: int) -> None:
    draw = Draw("spans")
    spans = [draw.span(length, 16) for _ in range(200)]
    assert all(0 <= start <= end <= length and end - start <= 16 for start, end in spans)
    assert length < 2 or len(set(spans)) > 2


def test_a_choice_is_one_of_the_items_and_reaches_all() -> None:
    draw = Draw("choices")
    assert {draw.choice("abc") for _ in range(50)} == set("abc")
