# SPDX-License-Identifier: MIT
"""Runs are found, summed up and compared."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_folders_of_one_name_are_distinguished_by_their_parents() -> None:
    paths = [Path("/runs/a/search"), Path("/runs/b/search"), Path("/runs/b/training")]
    assert distinct_names(paths) == ["a/search", "b/search", "training"]
    assert distinct_names([Path("/x"), Path("/x")]) == ["/x", "/x"]


def kept(folder: Path, document: object, episodes: str = "", progress: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(
        document if isinstance(document, str) else json.dumps(document)
    )
    (folder / "episodes.jsonl").write_text(episodes)
    (folder / "progress.jsonl").write_text(progress)
    return folder


def test_a_run_is_summarised_from_its_complete_rows(tmp_path: Path) -> None:
    lines = [{"result": {"reward": 1.0, "walltime": 2.0}}, {"result": {"reward": 3}}, {"other": 1}]
    episodes = "".join(json.dumps(line) + "\n" for line in lines) + '{"result": {"rew'
    progress = '{"step": 1, "reward": 0.5}\n{"step": 2}\n'
    document = {"kind": "training", "config": {"a": {"b": 1}}, "seeds": {}}
    found = summarise(kept(tmp_path / "run", document, episodes, progress))
    assert (found.kind, found.episodes, found.reward, found.seconds) == ("training", 3, 2.0, 2.0)
    assert found.settings == {"kind": "training", "config.a.b": 1}
    assert found.curve == ((1.0, 0.5),)
    assert not found.is_done
    (tmp_path / "run" / "done").touch()
    assert summarise(tmp_path / "run").is_done


@pytest.mark.parametrize("text", ["", "{", "[1]", "null"])
def test_a_damaged_document_leaves_a_run_without_settings(tmp_path: Path, text: str) -> None:
    found = summarise(kept(tmp_path / "run", text))
    assert (found.kind, found.settings, found.reward) == ("", {}, None)


def test_runs_differ_in_their_settings_and_not_in_their_times(tmp_path: Path) -> None:
    runs = [
        summarise(kept(tmp_path / str(n), {"started": n, "command": n, "config": {"n": n, "m": 1}}))
        for n in range(2)
    ]
    assert differences(runs) == {"config.n": [0, 1]}
    assert differences([]) == {}


PATHS = st.lists(
    st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(lambda parts: Path("/", *parts)),
    min_size=1, max_size=5, unique=True,
)  # fmt: skip


@given(PATHS)
def test_names_are_unique_suffixes_of_paths(paths: list[Path]) -> None:
    names = distinct_names(paths)
    assert len(set(names)) == len(names)
    assert all(str(path).endswith(name) for path, name in zip(paths, names, strict=True))
