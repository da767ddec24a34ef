# SPDX-License-Identifier: MIT
import dataclasses
from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym_agents import AgentTask, Decisions, Verdict, find_task
from compiler_gym_agents.task import MOST_LETTERS

TASK = "fewer-instructions/cbench-v1/crc32"


def test_a_task_is_written_and_read_as_json() -> None:
    task = find_task(TASK)
    assert AgentTask.parse_raw(task.json()) == task


@pytest.mark.parametrize("change", [{"split": "exam"}, {"difficulty": "impossible"}])
def test_a_task_of_no_split_or_difficulty_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(InvalidParameterError, match=r"not one of (train|easy)"):
        dataclasses.replace(find_task(TASK), **change)


@pytest.mark.parametrize(
    "wrong", [{"commandline": ["-Oz"]}, {"answer": 3}, {"answer": "1" * (MOST_LETTERS + 1)}]
)
def test_decisions_are_text_of_bounded_length(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match="must "):
        Decisions(TASK, **wrong)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0])
def test_a_reward_is_a_finite_number_that_is_not_negative(number: float) -> None:
    with pytest.raises(InvalidParameterError, match="finite"):
        Verdict(TASK, number, valid=True, reason="")


def test_an_invalid_program_has_no_reward() -> None:
    with pytest.raises(InvalidParameterError, match="invalid decisions"):
        Verdict(TASK, 0.5, valid=False, reason="")
