# SPDX-License-Identifier: MIT
"""What a watcher is told does not change afterwards, and one may stay silent."""

import dataclasses

import pytest

from compiler_gym.search.watching import Improvement, SearchProgress, Silent


def test_a_report_is_a_record() -> None:
    improvement = Improvement(0, "benchmark://puzzle-v0/door", 0.5, 3, 1, 2.0, (1, 0))
    with pytest.raises(dataclasses.FrozenInstanceError, match="reward"):
        improvement.reward = 3.0  # type: ignore[misc]  # what is tried
    assert improvement == dataclasses.replace(improvement)
    assert improvement != dataclasses.replace(improvement, actions=(0, 1))


def test_a_silent_watcher_lets_a_search_go_on() -> None:
    progress = SearchProgress("benchmark://puzzle-v0/door", 1.0, 1, 2, 1, 0, "searching")
    Silent().improved(Improvement(0, progress.benchmark, 0.0, 1, 1, 1.0, (0,)))
    Silent().tick(1.0, [progress])
