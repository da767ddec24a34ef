# SPDX-License-Identifier: MIT
"""No room of the source grows unless the commit that lets it grow says why."""

import pytest

from tests.architecture import house
from tests.architecture.house import Room

_SLACK = 20
"""How many lines a room may shrink before its record has to follow; other numbers have none."""


def above_records(measured: dict[str, Room], recorded: dict[str, Room]) -> list[str]:
    """Return what to read about each number that is above its record."""
    return [
        f"{name}: {key} is {number}, recorded {recorded.get(name, {}).get(key, 0)}"
        for name, room in measured.items()
        for key, number in room.items()
        if number > recorded.get(name, {}).get(key, 0)
    ]


def stale_records(measured: dict[str, Room], recorded: dict[str, Room]) -> list[str]:
    """Return what to read about each record that is over 5 % above the code."""
    stale: list[str] = []
    for name, room in recorded.items():
        for key, number in room.items():
            now = measured.get(name, {}).get(key, 0)
            if number - now > max(now / 20, _SLACK if now and key == "lines" else 0):
                stale.append(f"{name}: {key} is {now}, recorded {number}")
    return stale


@pytest.fixture(scope="module")
def rooms() -> dict[str, Room]:
    return house.measure()


def test_no_number_is_above_its_record(rooms: dict[str, Room]) -> None:
    above = above_records(rooms, house.recorded())
    advice = "make it smaller, or edit house.toml in the same commit and explain why in its message"
    assert not above, "\n".join([*above, advice])


def test_records_follow_what_shrinks(rooms: dict[str, Room]) -> None:
    stale = stale_records(rooms, house.recorded())
    advice = "lower them with `python -m tests.architecture.house --write`"
    assert not stale, "\n".join([*stale, advice])


def test_a_number_above_its_record_and_a_new_room_are_found() -> None:
    measured = {"core": {"lines": 101, "names": 5}, "attic": {"lines": 1}}
    assert above_records(measured, {"core": {"lines": 100, "names": 5}}) == [
        "core: lines is 101, recorded 100",
        "attic: lines is 1, recorded 0",
    ]


def test_a_record_far_above_the_code_or_of_no_room_is_found() -> None:
    measured = {"core": {"lines": 100, "names": 100, "any": 100}}
    recorded = {"core": {"lines": 120, "names": 105, "any": 106}, "attic": {"lines": 9}}
    assert stale_records(measured, recorded) == [
        "core: any is 100, recorded 106",
        "attic: lines is 0, recorded 9",
    ]
    assert stale_records(measured, {"core": {"lines": 121}}) != []
