# SPDX-License-Identifier: MIT
"""Times and addresses are known by their looks; nothing else is passed over."""

import time

import pytest

from compiler_gym.validation.volatile import (
    describe_difference,
    differs_only_in_volatile_words,
)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (b"p 0x7f0012345678 3\n", b"p 0x55d0deadbeef 3\n", "an address"),
        (b"at 12:30:01\n", b"at 12:30:02\n", "a time"),
        (b"Sat Nov 21 11:27:23 2026", b"Sat Nov 21 11:27:24 2026", "a time"),
        (b"2026-11-21 7", b"2026-11-22 7", "a time"),
        (b"0x7f0012345678 12:30", b"0x7f0012345679 12:31", "a time and an address"),
    ],
)
def test_times_and_addresses_are_recognised(one: bytes, other: bytes, kind: str) -> None:
    assert differs_only_in_volatile_words(one, other) == kind


def test_seconds_since_1970_are_a_time_while_they_are_near_to_now() -> None:
    now = int(time.time())
    one, other, old = (b"seed %d" % moment for moment in (now, now - 5, now // 2))
    assert differs_only_in_volatile_words(one, other) == "a time"
    assert differs_only_in_volatile_words(one, old) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"same", b"same"),
        (b"1", b"2"),
        (b"0x12", b"0x13"),
        (b"1234567890", b"1234567891"),
        (b"crc 0x1234567890123456789", b"crc 0x1234567890123456780"),
        (b"12:30:01 3", b"12:30:02 4"),
        (b"0x7f0012345678\n", b"0x7f0012345678"),
        (b"\xff\x00", b"\xff\x01"),
    ],
)
def test_other_differences_stay_differences(one: bytes, other: bytes) -> None:
    assert differs_only_in_volatile_words(one, other) is None


@pytest.mark.parametrize(
    ("wanted", "found", "words"),
    [
        (b"1\n2\n", b"1\n3\n", "line 2: expected '2', got '3'"),
        (b"1\n2\n", b"1\n", "expected 2 lines, got 1"),
        (b"1\r\n", b"1\n", "the line endings differ"),
        (b"\xff", b"x" * 99, rf"line 1: expected '\\xff', got '{'x' * 60}...'"),
    ],
)
def test_a_difference_is_described_in_a_line(wanted: bytes, found: bytes, words: str) -> None:
    assert describe_difference(wanted, found) == words.replace(r"\\xff", "\\\\xff")
