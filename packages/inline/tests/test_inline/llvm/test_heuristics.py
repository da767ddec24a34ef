# SPDX-License-Identifier: MIT
"""The entry point of heuristics names a task that there is, and files that it reads."""

from pathlib import Path

import pytest

from compiler_gym.errors import CompilerGymError
from compiler_gym.lazy import parts
from compiler_gym.tools.learn.leaderboard import TASKS
from compiler_gym_inline.llvm import heuristics


def test_the_entry_point_names_this_module_and_its_task_is_there() -> None:
    assert parts("heuristics")["llvm-inline"].load() is heuristics
    assert heuristics.TASK in TASKS


@pytest.mark.parametrize("suffix", heuristics.SUFFIXES)
def test_a_file_that_is_missing_is_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(CompilerGymError, match="missing"):
        heuristics.heuristic_policy(tmp_path / f"missing{suffix}")
