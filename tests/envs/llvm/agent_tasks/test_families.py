# SPDX-License-Identifier: MIT
from compiler_gym.agents import tasks
from compiler_gym.datasets import SampleDataset


def test_a_program_of_the_sample_is_in_the_split_of_its_package() -> None:
    sample = SampleDataset()
    for task in tasks():
        if "debian-sample" in task.benchmark:
            assert sample.facts(task.benchmark).split == task.split, task.id


def test_a_prompt_names_the_program_the_goal_and_the_calls() -> None:
    for task in tasks(family="fewer-instructions"):
        for said in (task.benchmark, task.goal, task.baseline, f"{task.max_calls} times"):
            assert said in task.prompt
