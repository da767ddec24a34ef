# SPDX-License-Identifier: MIT
"""A search that was killed goes on from the best it had, with the time that is left."""

from pathlib import Path

from compiler_gym.runs import RunFolder
from compiler_gym.search import Budget, Improvement, KeepingWatcher, Silent, kept_starts, left_of


def improvement(program: str, reward: float, *actions: int) -> Improvement:
    return Improvement(0, program, 1.0, 10, 5, reward, actions)


def test_the_best_of_every_program_is_where_it_starts_again(tmp_path: Path) -> None:
    folder = RunFolder.open(tmp_path, "search", {})
    watcher = KeepingWatcher(folder, Silent())
    for found in (
        improvement("a", 0.5, 1), improvement("b", 0.2, 7), improvement("a", 0.9, 1, 2),
    ):  # fmt: skip
        watcher.improved(found)
    folder.close()
    again = RunFolder.open(tmp_path, "search", {})
    assert kept_starts(again) == [[1, 2], [7]]


def test_the_time_that_was_used_is_not_given_again(tmp_path: Path) -> None:
    folder = RunFolder.open(tmp_path, "search", {})
    watcher = KeepingWatcher(folder, Silent())
    for seconds in (0.4, 1.2, 1.4, 4.0):
        watcher.tick(seconds, [])
    folder.close()
    again = RunFolder.open(tmp_path, "search", {})
    assert left_of(Budget(seconds=10), again).seconds == 6.0
    later = KeepingWatcher(again, Silent())
    later.tick(3.0, [])
    assert left_of(Budget(seconds=10), again).seconds == 3.0
    assert left_of(Budget(seconds=2), again).seconds == 0.1
    assert left_of(Budget(steps=5), again) == Budget(steps=5)


def test_an_improvement_that_is_found_again_is_kept_once(tmp_path: Path) -> None:
    for _ in range(2):
        with RunFolder.open(tmp_path, "search", {}) as folder:
            watcher = KeepingWatcher(folder, Silent())
            watcher.improved(improvement("a", 0.5, 1))
            watcher.improved(improvement("a", 0.9, 1, 2))
    assert len((tmp_path / "episodes.jsonl").read_text().splitlines()) == 2
