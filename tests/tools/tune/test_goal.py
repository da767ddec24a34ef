# SPDX-License-Identifier: MIT
"""A goal is its word in files and on the command line, and knows what decides."""

import json
from pathlib import Path

import msgspec
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.tune import Goal, Request


def test_a_goal_is_written_as_its_word() -> None:
    assert [f"{goal}" for goal in Goal] == ["size", "speed"]
    assert msgspec.to_builtins(Goal.SPEED) == "speed"
    assert json.dumps(Goal.SIZE) == '"size"'


def test_bytes_decide_for_size_and_runs_for_speed() -> None:
    assert [goal.counts_bytes for goal in Goal] == [True, False]
    assert (Goal.SIZE.format_cost(1234.0), Goal.SPEED.format_cost(0.123456)) == (
        "1,234 bytes",
        "0.1235 s",
    )


def test_a_request_takes_the_word_and_refuses_others() -> None:
    assert Request(("make",), Path(), Path("out"), goal="speed").goal is Goal.SPEED  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="no goal 'beauty': use size or speed"):
        Request(("make",), Path(), Path("out"), goal="beauty")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="no goal 'both': use size with --max-slowdown"):
        Request(("make",), Path(), Path("out"), goal="both")  # type: ignore[arg-type]
