# SPDX-License-Identifier: MIT
"""Runs are found, summed up and compared."""

from pathlib import Path

from compiler_gym.runs import RunFolder, differences, distinct_names, find_runs, summarise


def test_runs_are_found_summed_up_and_compared(tmp_path: Path) -> None:
    for name, limit in (("one", 1), ("two", 2)):
        with RunFolder.open(tmp_path / name, "search", {"limit": limit}) as run:
            run.record("a", {"reward": 0.5 * limit, "walltime": 2.0})
            run.record("b", {"note": "no reward"})
            run.progress(1, reward=0.25)
    found = [summarise(path) for path in find_runs([tmp_path])]
    assert [run.path.name for run in found] == ["one", "two"]
    assert [(run.reward, run.episodes, run.seconds) for run in found] == [
        (0.5, 2, 2.0), (1.0, 2, 2.0),
    ]  # fmt: skip
    assert found[0].curve == ((1.0, 0.25),)
    assert differences(found) == {"config.limit": [1, 2]}


def test_folders_of_one_name_are_told_apart_by_their_parents() -> None:
    paths = [Path("/runs/a/search"), Path("/runs/b/search"), Path("/runs/b/training")]
    assert distinct_names(paths) == ["a/search", "b/search", "training"]
    assert distinct_names([Path("/x"), Path("/x")]) == ["/x", "/x"]
