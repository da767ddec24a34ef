# SPDX-License-Identifier: MIT
import pytest

import compiler_gym
from compiler_gym_agents import tasks


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_the_programs_of_the_tasks_are_there(split: str) -> None:
    with compiler_gym.make("loop_tool-v0") as env:
        for task in tasks(split, "tile-a-loop-nest")[-3:]:
            env.reset(benchmark=task.benchmark, action_space=task.action_space)
            assert env.observation[task.baseline] == env.observation[task.goal] > 0
            assert task.more_is_better
