# SPDX-License-Identifier: MIT
"""``compiler-gym leaderboard`` as a shell sees it."""

import json
import re
from pathlib import Path

import pytest

from compiler_gym.tools.learn.leaderboard import TASKS
from tests.command_line import Run

CRC32 = "benchmark://cbench-v1/crc32"


@pytest.fixture
def submitted(cli: Run, tmp_path: Path) -> Path:
    """Return the folder of submissions with one in it."""
    folder = tmp_path / "leaderboard" / "llvm-ic-1s" / "Oz"
    ran = cli(
        "leaderboard", "run", "llvm-ic-1s", "level:-Oz", "--name", "Oz", "--program", CRC32,
        "--output", str(folder),
    )  # fmt: skip
    assert ran.status == 0, ran.errors
    assert "Oz on llvm-ic-1s: 1 programs" in ran.output
    assert "cbench-v1/crc32: " in ran.errors
    return tmp_path / "leaderboard"


def test_tasks_are_listed(cli: Run) -> None:
    assert [task["task"] for task in cli("leaderboard", "tasks", "--json").json] == list(TASKS)
    assert "llvm-ic-unseen" in cli("leaderboard", "tasks").output


def test_a_submission_that_cannot_be_trusted_fails_the_check(cli: Run, submitted: Path) -> None:
    path = submitted / "llvm-ic-1s" / "Oz" / "results.jsonl"
    line = json.loads(path.read_text())
    line["found"] -= 1
    path.write_text(json.dumps(line) + "\n")
    ran = cli("leaderboard", "verify", "--rungs", "verify")
    assert ran.status == 1
    assert "WRONG" in ran.output
    assert "a program of the task is missing, benchmark='benchmark://cbench-v1/sha'" in ran.output
    assert len(re.findall("crc32", ran.output)) >= 1


def test_a_table_ranks_the_submissions_of_a_folder(cli: Run, submitted: Path) -> None:
    assert "| 1 | Oz |" in cli("leaderboard", "table").output


def test_a_missing_name_is_named(cli: Run) -> None:
    ran = cli("leaderboard", "run", "llvm-ic-9s", "level:-Oz")
    assert ran.status == 2
    assert "no task 'llvm-ic-9s'; choose from llvm-ic-1s" in ran.errors
    ran = cli("leaderboard", "run", "llvm-ic-1s", "magic")
    assert ran.status == 2
    assert "no policy 'magic'; choose random, level:-Oz" in ran.errors
    ran = cli("leaderboard", "table", "--root", "missing")
    assert ran.status == 2
    assert "no submissions in the folder missing" in ran.errors
    ran = cli("leaderboard", "verify", "--rerun")
    assert ran.status == 2
    assert "run the policy again" in ran.errors
