# SPDX-License-Identifier: MIT
from dataclasses import replace

import pytest

from compiler_gym_agents import Decisions, find_task, tasks
from compiler_gym_agents.judging.measuring import measure

SHA = find_task("fewer-instructions/cbench-v1/sha")


def test_a_task_that_is_not_the_catalogues_is_refused() -> None:
    verdict = measure(replace(SHA, baseline="IrInstructionCountO0"), Decisions(SHA.id))
    assert not verdict.valid
    assert "differs from the one" in verdict.reason


def test_decisions_for_another_task_are_refused() -> None:
    verdict = measure(SHA, Decisions("fewer-instructions/cbench-v1/crc32"))
    assert not verdict.valid
    assert "the decisions are for" in verdict.reason


def test_more_actions_than_the_task_allows_are_refused() -> None:
    passes = ",".join(["function(dce)"] * (SHA.max_actions + 1))
    line = f"opt -discard-value-names -passes='{passes}' input.bc -o output.bc"
    verdict = measure(SHA, Decisions(SHA.id, line))
    assert not verdict.valid
    assert f"allows at most {SHA.max_actions} actions" in verdict.reason


QUESTION = tasks("test", "find-the-miscompile", "easy")[0]


def test_a_question_is_won_by_its_answer_and_by_no_other() -> None:
    rewards = [
        measure(QUESTION, Decisions(QUESTION.id, answer=str(number))).reward
        for number in range(1, len(QUESTION.given) + 1)
    ]
    assert sorted(rewards) == [0.0] * (len(rewards) - 1) + [1.0]


@pytest.mark.parametrize(
    "answer", ["", "all", "1 2 3 4 5 6", "1,2", "-1", "1e0", "0x1", "\u0661", "9" * 400, "1.0"]
)
def test_an_answer_that_is_not_a_number_is_not_valid(answer: str) -> None:
    verdict = measure(QUESTION, Decisions(QUESTION.id, answer=answer))
    assert (verdict.reward, verdict.valid) == (0.0, False)
    assert "must be a number from 1 to 6" in verdict.reason
