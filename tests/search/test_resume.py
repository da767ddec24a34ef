# SPDX-License-Identifier: MIT
"""A search that was killed goes on from the best it had, with the time that is left."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import SearchOptions, list_options
from compiler_gym.runs import RunFolder
from compiler_gym.runs.folder import Change
from compiler_gym.search import (
    Budget,
    Improvement,
    KeepingWatcher,
    Silent,
    compute_remaining,
    read_kept_starts,
    take_up,
)


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
    assert read_kept_starts(again) == [[1, 2], [7]]


def test_the_time_that_was_used_is_not_given_again(tmp_path: Path) -> None:
    folder = RunFolder.open(tmp_path, "search", {})
    watcher = KeepingWatcher(folder, Silent())
    for seconds in (0.4, 1.2, 1.4, 4.0):
        watcher.tick(seconds, [])
    folder.close()
    again = RunFolder.open(tmp_path, "search", {})
    assert compute_remaining(Budget(seconds=10), again).seconds == 6.0
    later = KeepingWatcher(again, Silent())
    later.tick(3.0, [])
    assert compute_remaining(Budget(seconds=10), again).seconds == 3.0
    assert compute_remaining(Budget(seconds=2), again).seconds == 0.1
    assert compute_remaining(Budget(steps=5), again) == Budget(steps=5)


def test_an_improvement_that_is_found_again_is_kept_once(tmp_path: Path) -> None:
    for _ in range(2):
        with RunFolder.open(tmp_path, "search", {}) as folder:
            watcher = KeepingWatcher(folder, Silent())
            watcher.improved(improvement("a", 0.5, 1))
            watcher.improved(improvement("a", 0.9, 1, 2))
    assert len((tmp_path / "episodes.jsonl").read_text().splitlines()) == 2


OTHERS = {
    "algorithm": "greedy", "seconds": 9.0, "steps": 6, "seed": 1, "starts": [[0]],
    "step_seconds": 2.0, "level_seconds": 3.0, "jobs": 5, "kept_processes": 6, "kept_bytes": 7,
}  # fmt: skip
BEGUN = SearchOptions(steps=5)


def begin(path: Path, options: SearchOptions) -> dict[str, Change]:
    folder, _ = take_up(path, {"env": "llvm-v0"}, options)
    folder.close()
    return folder.changes


@pytest.mark.parametrize("name", [one.name for one in fields(SearchOptions)])
def test_no_option_is_forgotten_when_a_search_is_taken_up(tmp_path: Path, name: str) -> None:
    assert begin(tmp_path, BEGUN) == begin(tmp_path, BEGUN) == {}
    other = replace(BEGUN, **{name: OTHERS[name]})
    if list_options(SearchOptions)[name].may_change:
        assert begin(tmp_path, other)[name].now == OTHERS[name]
    else:
        with pytest.raises(InvalidParameterError, match=rf"whose (config\.{name}|seeds) is"):
            begin(tmp_path, other)


def test_a_folder_of_the_first_version_goes_on_and_says_what_it_lacks(tmp_path: Path) -> None:
    config = {"env": "llvm-v0", "algorithm": "portfolio", "seconds": None, "steps": 5}
    RunFolder.open(tmp_path, "search", config, seeds={"search": 0}).close()
    changes = begin(tmp_path, replace(BEGUN, step_seconds=2.0))
    assert changes["step_seconds"] == Change(None, 2.0, True)
    assert begin(tmp_path, replace(BEGUN, step_seconds=2.0)) == {}
    with pytest.raises(InvalidParameterError, match=r"step_seconds is 2\.0, not 3\.0"):
        begin(tmp_path, replace(BEGUN, step_seconds=3.0))


def test_a_resumed_search_keeps_its_target(tmp_path: Path) -> None:
    begin(tmp_path, BEGUN)
    with pytest.raises(InvalidParameterError, match=r'env is "llvm-v0", not "gcc-v0"'):
        take_up(tmp_path, {"env": "gcc-v0"}, BEGUN)
    with pytest.raises(InvalidParameterError, match="benchmark is nothing, not 1"):
        take_up(tmp_path, {"env": "llvm-v0", "benchmark": 1}, BEGUN)
    with pytest.raises(InvalidParameterError, match=r'env is "llvm-v0", not nothing'):
        take_up(tmp_path, {}, BEGUN)


def test_the_time_that_is_left_is_all_that_the_options_hold(tmp_path: Path) -> None:
    folder, _ = take_up(tmp_path, {}, SearchOptions())
    KeepingWatcher(folder, Silent()).tick(12.0, [])
    folder.close()
    folder, options = take_up(tmp_path, {}, SearchOptions())
    assert options == SearchOptions(seconds=18.0)
    folder.close()
