# SPDX-License-Identifier: MIT
"""Policies are found by name: levels, searches and those in files."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import UnknownNameError
from compiler_gym.tools.learn.leaderboard import (
    LevelPolicy,
    Limit,
    evaluate,
    find_policy,
    find_task,
)

from .conftest import TASK


def test_levels_and_searches_are_policies() -> None:
    task = replace(TASK, limit=Limit(seconds=600, compilations=100))
    (level,) = evaluate(find_policy("level:-Oz"), task).outcomes
    assert level.found == level.baseline
    (found,) = evaluate(find_policy("search:random"), task).outcomes
    assert found.compilations > 10
    assert found.found < found.initial
    assert not found.is_late
    with pytest.raises(UnknownNameError, match="no action '-O9'"):
        LevelPolicy("-O9")(__import__("compiler_gym").make("llvm-v0"))


def test_a_search_that_begins_with_the_levels_is_never_worse_than_one() -> None:
    task = replace(TASK, limit=Limit(seconds=600, compilations=12))
    (found,) = evaluate(find_policy("search:portfolio+levels"), task).outcomes
    (level,) = evaluate(find_policy("level:-Oz"), task).outcomes
    assert found.found <= level.found
    assert found.state.action_space == "PassesAndPipelines"
    with pytest.raises(UnknownNameError, match="no starts 'luck' for a search"):
        find_policy("search:portfolio+luck")


def test_policies_come_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "def policy(env):\n    env.step(env.action_space['sroa'])\n"
        "class Other:\n    def __call__(self, env):\n        pass\n"
    )
    assert evaluate(find_policy(str(path)), TASK).outcomes[0].compilations == 1
    assert evaluate(find_policy(f"{path}:Other"), TASK).outcomes[0].compilations == 0
    for name, words in (
        (f"{path}:none", "does not define none"),
        ("nowhere.py", "no file"),
        ("x", "no policy"),
    ):
        with pytest.raises(UnknownNameError, match=words):
            find_policy(name)
    with pytest.raises(UnknownNameError, match="no search 'x'; choose from random"):
        find_policy("search:x")
    with pytest.raises(UnknownNameError, match="no task 'x'; choose from llvm-ic-1s"):
        find_task("x")
