# SPDX-License-Identifier: MIT
"""No room of the source grows unless the commit that lets it grow says why."""

from tests.architecture import house

_SLACK = 20
"""How many lines a room may shrink before its record has to follow."""


def test_no_number_is_above_its_record() -> None:
    allowed = house.recorded()
    grown = [
        f"{name}: {key} is {number}, recorded {allowed.get(name, {}).get(key, 0)}"
        for name, room in house.measure().items()
        for key, number in room.items()
        if number > allowed.get(name, {}).get(key, 0)
    ]
    advice = "if that is wanted: `python -m tests.architecture.house --write`, and say why"
    assert grown == [], advice


def test_records_follow_what_shrinks() -> None:
    measured = house.measure()
    behind = [
        f"{name}: {key} is {measured.get(name, {}).get(key, 0)}, recorded {number}"
        for name, room in house.recorded().items()
        for key, number in room.items()
        if number - measured.get(name, {}).get(key, 0) > max(_SLACK, number // 20)
    ]
    assert behind == [], "run `python -m tests.architecture.house --write`"
