# SPDX-License-Identifier: MIT
"""Honest episodes raise no alarm. Fast versions of the benchmark."""

import shutil

import pytest

from benchmarks.validation import honest, honest_table

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


@pytest.mark.slow
@pytest.mark.parametrize("episodes", [1, 50])
def test_honest_episodes_raise_no_alarm(episodes: int) -> None:
    table = honest(["bitcount", "sha", "crc32"], episodes=episodes)
    assert f"{episodes} episodes on 3 programs: 0 false alarms." in table


def test_an_alarm_is_counted_and_unknown_is_neither() -> None:
    found = [{"replay": "ok", "run": "failed"}, {"replay": "ok", "run": "unknown"}]
    table = honest_table(found, 2)
    assert "| `run` | 0 | 1 | 1 |" in table
    assert "2 episodes on 2 programs: 1 false alarms." in table
