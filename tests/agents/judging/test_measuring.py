# SPDX-License-Identifier: MIT
from dataclasses import replace

from compiler_gym.agents import Decisions, find_task
from compiler_gym.agents.judging.measuring import measure

SHA = find_task("fewer-instructions/cbench-v1/sha")


def test_a_task_that_is_not_the_catalogues_is_refused() -> None:
    verdict = measure(replace(SHA, baseline="IrInstructionCountO0"), Decisions(SHA.id))
    assert not verdict.valid
    assert "was changed" in verdict.reason


def test_decisions_for_another_task_are_refused() -> None:
    verdict = measure(SHA, Decisions("fewer-instructions/cbench-v1/crc32"))
    assert not verdict.valid
    assert "the decisions are for" in verdict.reason


def test_more_actions_than_the_task_allows_are_refused() -> None:
    passes = ",".join(["function(dce)"] * (SHA.max_actions + 1))
    line = f"opt -discard-value-names -passes='{passes}' input.bc -o output.bc"
    verdict = measure(SHA, Decisions(SHA.id, line))
    assert not verdict.valid
    assert f"expected at most {SHA.max_actions}" in verdict.reason
