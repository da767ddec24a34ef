# SPDX-License-Identifier: MIT
"""Random search with the signature of 0.2.5 ends when asked, and keeps what it found."""

import json
from pathlib import Path

import pytest
from search.puzzle import make_puzzle

from compiler_gym import random_search


def test_patience_ends_a_search_long_before_its_time(tmp_path: Path) -> None:
    reward, actions = random_search(make_puzzle, tmp_path, total_runtime=None, patience=20, nproc=1)
    assert reward > 0
    (found,) = json.loads((tmp_path / "results.json").read_text())["results"]
    assert (found["reward"], found["actions"]) == (reward, actions)
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    rewards = [line["reward"] for line in lines]
    assert rewards == sorted(set(rewards))


def test_a_finished_search_is_not_repeated(tmp_path: Path) -> None:
    def refuse() -> None:
        raise AssertionError("nothing is to be made")

    kept = {"results": [{"reward": 2.5, "actions": [1, 0]}]}
    (tmp_path / "results.json").write_text(json.dumps(kept))
    assert random_search(refuse, tmp_path, skip_done=True) == (2.5, [1, 0])  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="nothing is to be made"):
        random_search(refuse, tmp_path, skip_done=False)  # type: ignore[arg-type]


def test_results_go_to_the_logs_where_no_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_LOGS", str(tmp_path))
    random_search(make_puzzle, total_runtime=0.2, nproc=1)
    assert (tmp_path / "random_search/latest/results.json").is_file()


def test_random_search_keeps_its_signature_and_its_results(tmp_path: Path) -> None:
    reward, actions = random_search(make_puzzle, outdir=tmp_path, total_runtime=2, nproc=1)
    assert reward > 0
    assert (tmp_path / "progress.jsonl").read_text()
    with make_puzzle() as env:
        env.reset()
        assert env.multistep(actions)[1] == reward
    assert random_search(make_puzzle, tmp_path, skip_done=True) == (reward, actions)


def test_random_search_ends_when_its_patience_does(tmp_path: Path) -> None:
    reward, _ = random_search(make_puzzle, tmp_path, total_runtime=None, patience=20, nproc=1)
    assert reward > 0
