# SPDX-License-Identifier: MIT
"""Where logs go."""

from pathlib import Path

import pytest

from compiler_gym import random_search
from compiler_gym.paths import create_user_logs_dir, logs_path
from compiler_gym.testing import FakeEnv


def test_logs_are_below_the_directory_that_the_variable_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_LOGS", str(tmp_path / "logs"))
    assert logs_path("runs") == tmp_path / "logs" / "runs"
    first, second = create_user_logs_dir("search"), create_user_logs_dir("search", tmp_path)
    assert first.parent == second.parent == tmp_path / "logs" / "search"
    assert first != second
    assert (second.parent / "latest").resolve() == second
    assert sorted(second.parent.iterdir()) == sorted([first, second, second.parent / "latest"])


def test_without_the_variable_logs_are_in_the_home_directory_or_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COMPILER_GYM_LOGS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert logs_path() == tmp_path / "logs" / "compiler_gym"
    assert create_user_logs_dir("a").parent == tmp_path / "logs" / "compiler_gym" / "a"
    assert create_user_logs_dir("a", tmp_path / "b").parent == tmp_path / "b" / "a"


def test_a_search_that_names_no_directory_writes_its_logs_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_LOGS", str(tmp_path))
    random_search(lambda: FakeEnv(reward_space="number"), total_runtime=0.2, nproc=1)
    latest = tmp_path / "random_search" / "latest"
    assert {file.name for file in latest.iterdir()} == {"progress.jsonl", "results.json"}
