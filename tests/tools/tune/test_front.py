# SPDX-License-Identifier: MIT
"""No build of a front is both larger and slower than another, and bounds choose one."""

from pathlib import Path

import pytest

from compiler_gym.tools.tune import BinaryPlan, FrontBuild, recommend_build, select_front


def build(code: int, speedup: float) -> FrontBuild:
    name = f"{code}-{speedup}"
    return FrontBuild(name, BinaryPlan("a", "b"), Path(name), code, {"speedup": speedup})


SMALL, MIDDLE, FAST = build(50, 0.9), build(80, 1.1), build(120, 1.2)


def test_larger_and_slower_builds_are_left_out() -> None:
    others = [build(60, 0.9), build(90, 1.1), build(110, 1.102), build(200, 1.0)]
    assert select_front([FAST, *others, SMALL, MIDDLE]) == (SMALL, MIDDLE, FAST)


def test_at_most_eight_stay_and_the_ends_are_among_them() -> None:
    many = [build(code, 1 + code / 1000) for code in range(0, 200, 10)]
    front = select_front(many)
    assert len(front) == 8
    assert (front[0], front[-1]) == (many[0], many[-1])


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({}, MIDDLE.code),
        ({"max_slowdown": 0.2}, SMALL.code),
        ({"max_slowdown": 0.0}, MIDDLE.code),
        ({"max_growth": 0.3}, FAST.code),
        ({"max_growth": 0.0}, MIDDLE.code),
        ({"max_growth": 0.0, "max_slowdown": 0.0}, MIDDLE.code),
    ],
)
def test_bounds_choose(bounds: dict[str, float], expected: int) -> None:
    good = build(110, 1.17)
    found = recommend_build(select_front([SMALL, MIDDLE, good, FAST]), 100, **bounds)
    assert found is not None
    assert found.code == expected


def test_where_none_is_within_the_bounds_none_is_recommended() -> None:
    assert recommend_build([FAST], 100, max_growth=0.1) is None
    assert recommend_build([], 100) is None


def test_speed_is_worth_code_and_what_is_slower_is_recommended_only_alone() -> None:
    assert recommend_build([build(50, 0.99), build(100, 1.0)], 100) == build(100, 1.0)
    assert recommend_build([build(50, 0.9), build(100, 0.95)], 100) == build(100, 0.95)
    assert recommend_build([build(100, 1.0), build(103, 1.01)], 100) == build(103, 1.01)
    assert recommend_build([build(100, 1.0), build(106, 1.01)], 100) == build(100, 1.0)
