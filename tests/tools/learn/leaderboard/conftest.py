# SPDX-License-Identifier: MIT
"""A small task, a submission that was written, and what becomes of one that was changed."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.tools.learn.leaderboard import (
    Evaluation,
    LeaderboardTask,
    Limit,
    Submission,
    evaluate,
    find_policy,
    find_task,
    read_submission,
    write_submission,
)

CRC, SHA = "benchmark://cbench-v1/crc32", "benchmark://cbench-v1/sha"
TASK = LeaderboardTask("demo", "A trial", Limit(compilations=5), programs=(CRC,))
PROGRAMS = ["benchmark://cbench-v1/crc32", "benchmark://cbench-v1/bitcount"]


@dataclass
class Clock:
    """The time of a meter: it passes when a test says so, and a little with each look."""

    now: float = 0.0
    per_look: float = 0.0

    def monotonic(self) -> float:
        self.now += self.per_look
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return what meters read."""
    found = Clock()
    monkeypatch.setattr("compiler_gym.tools.learn.leaderboard.evaluation.time", found)
    return found


@pytest.fixture(scope="session")
def evaluation() -> Evaluation:
    return evaluate(find_policy("level:-Oz"), find_task("llvm-ic-1s"), programs=PROGRAMS)


@pytest.fixture
def submission(evaluation: Evaluation, tmp_path: Path) -> Submission:
    folder = tmp_path / "llvm-ic-1s" / "Oz"
    return write_submission(folder, evaluation, {"name": "Oz", "policy": "level:-Oz"})


def tampered(
    submission: Submission, change: Callable[[list[dict[str, Any]]], object]
) -> Submission:
    path = submission.folder / "results.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_submission(submission.folder)


def endless(env: Any) -> None:
    """Step for ever: a policy that its limit stops."""
    while True:
        env.step(env.action_space["sroa"])
