# SPDX-License-Identifier: MIT
import pytest

import compiler_gym
from compiler_gym.datasets import SampleDataset
from compiler_gym_agents import AgentTask, tasks
from compiler_gym_agents.judging.measuring import right_answers


def test_a_program_of_the_sample_is_in_the_split_of_its_package() -> None:
    sample = SampleDataset()
    for task in tasks():
        if "debian-sample" in task.benchmark:
            assert sample.facts(task.benchmark).split == task.split, task.id


def test_a_prompt_names_the_program_the_goal_and_the_calls() -> None:
    for task in tasks(family="fewer-instructions"):
        for said in (task.benchmark, task.goal, task.baseline, f"{task.max_calls} times"):
            assert said in task.prompt


def answers_to(task: AgentTask) -> set[int]:
    """Return the right answers to a question."""
    with compiler_gym.make(task.env_id) as env:
        env.reset(benchmark=task.benchmark, action_space=task.action_space)
        return right_answers(env, task)


QUESTIONS = [task for task in tasks() if task.question is not None]


@pytest.mark.parametrize("task", QUESTIONS[::40], ids=lambda task: task.id)
def test_a_question_has_one_right_answer(task: AgentTask) -> None:
    assert len(answers_to(task)) == 1


@pytest.mark.slow
def test_every_question_has_one_right_answer_and_no_place_is_the_usual_one() -> None:
    answers = [answers_to(task) for task in QUESTIONS]
    assert {len(found) for found in answers} == {1}
    places = [min(found) / len(task.given) for found, task in zip(answers, QUESTIONS, strict=True)]
    assert 0.3 < sum(places) / len(places) < 0.8
