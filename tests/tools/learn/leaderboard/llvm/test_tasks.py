# SPDX-License-Identifier: MIT
"""What LLVM's leaderboards fix is there: the environment, its costs, rewards and programs."""

import pytest

import compiler_gym
from compiler_gym.tools.learn.leaderboard import LeaderboardTask, find_task
from compiler_gym.tools.learn.leaderboard.llvm.tasks import TASKS


def test_names_are_distinguished_and_found() -> None:
    names = [task.name for task in TASKS]
    assert len(set(names)) == len(names)
    assert [find_task(name) for name in names] == list(TASKS)
    assert all(name.startswith("llvm-") for name in names)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_everything_that_a_task_names_is_offered(task: LeaderboardTask) -> None:
    with compiler_gym.make(task.environment) as env:
        assert task.reward_space in env.reward
        assert {task.cost, task.initial, task.baseline} <= set(env.observation)
        assert env.observation.spaces[task.cost].platform_dependent is not None
        known = {dataset.name for dataset in env.datasets.datasets()}
        assert set(task.train) <= known
        uris = list(task.uris(env))
    assert len(uris) > 20
    assert all(("goal=speed" in uri) == (task.goal == "speed") for uri in uris)


def test_only_a_task_that_gives_time_to_learn_gives_programs_to_learn_from() -> None:
    assert all(bool(task.train) == (task.train_seconds > 0) for task in TASKS)
    learnt = {name for task in TASKS for name in task.train}
    assert learnt.isdisjoint({name for task in TASKS for name in task.programs})
