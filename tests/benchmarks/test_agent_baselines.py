# SPDX-License-Identifier: MIT
"""Baselines are of the same tasks every time, and a task without a reward counts."""

from benchmarks.agent_baselines import at_random, chosen_tasks, nothing, table
from compiler_gym_agents import Verdict


def test_more_tasks_of_a_family_begin_with_fewer() -> None:
    few, more = chosen_tasks(2), chosen_tasks(3)
    assert set(few) < set(more)
    assert {task.split for task in more} == {"test"}
    assert len(few) == 2 * len({task.family for task in more})


def test_the_table_has_a_line_for_each_family_and_the_share_of_valid_decisions() -> None:
    chosen = chosen_tasks(2)
    won = [Verdict(chosen[0].id, 0.5, valid=True, reason="")]
    lost = [Verdict.refuse(task.id, "nothing") for task in chosen]
    lines = table({"one": won, "other": lost}, chosen).splitlines()
    assert lines[0] == "| tasks | n | one | other |"
    assert lines[2] == f"| `{chosen[0].family}` | 2 | 0.250 | 0.000 |"
    assert lines[-1] == f"| valid, of all | {len(chosen)} | 100% | 0% |"


def test_a_question_is_guessed_or_left_open() -> None:
    question = next(task for task in chosen_tasks(1) if task.question is not None)
    assert nothing(question).answer == ""
    assert 1 <= int(at_random(question).answer) <= len(question.given)
