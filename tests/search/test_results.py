# SPDX-License-Identifier: MIT
"""Reports, results and resumed searches."""

import dataclasses
import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError, InvalidParameterError
from compiler_gym.options import SearchOptions, list_options
from compiler_gym.runs import RunFolder
from compiler_gym.runs.folder import Change
from compiler_gym.search import (
    Budget,
    Improvement,
    KeepingWatcher,
    ProgressLog,
    SearchProgress,
    Silent,
    compute_remaining,
    read_kept_starts,
    run_search,
    take_up,
    write_json,
    write_results,
)
from search.puzzle import make_puzzle
from tests.stand_ins import stand_in


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


def test_results_can_be_read_back(tmp_path: Path) -> None:
    results = run_search(make_puzzle, budget=Budget(steps=50))
    path = write_results(tmp_path / "new" / "results.json", results, note="kept")
    document = json.loads(path.read_text())
    assert document["note"] == "kept"
    assert document["results"][0]["reward"] == results[0].reward
    assert document["results"][0]["actions"] == list(results[0].actions)
    assert document["results"][0]["improvements"][-1]["reward"] == results[0].reward


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = write_json(tmp_path / "results.json", {"run": 1})
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_json(path, {"run": object()})
    assert json.loads(path.read_text()) == {"run": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", [stand_in(lambda path: write_json(path, {})), ProgressLog])
def test_a_place_that_cannot_be_written_is_a_typed_error(write: object, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CacheError, match=r"cannot write .* choose another path"):
        write(tmp_path / "file" / "below")  # type: ignore[operator]


def test_the_log_has_one_line_per_improvement_at_once(tmp_path: Path) -> None:
    with ProgressLog(tmp_path / "log.jsonl") as log:
        log.add(Improvement(0, "benchmark://a/b", 0.5, 3, 1, 2.0, (4, 5)))
        line = json.loads((tmp_path / "log.jsonl").read_text())
    assert (line["benchmark"], line["reward"], line["actions"]) == ("benchmark://a/b", 2.0, [4, 5])


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
    "algorithm": "greedy", "seconds": 9.0, "steps": 6, "sequences": 7, "seed": 1, "starts": [[0]],
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
