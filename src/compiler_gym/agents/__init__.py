# SPDX-License-Identifier: MIT
"""A compiler for agents that are language models: tasks, and a judge that cannot be cheated.

``task`` holds the records, ``catalogue`` finds the tasks of every installed compiler by split,
family and difficulty, and ``judging`` replays an agent's decisions in a process of its own and
says what they are worth. No compiler is named here: each brings its own tasks.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.agents.catalogue import find_task, tasks
    from compiler_gym.agents.judging.judge import Judge, judge
    from compiler_gym.agents.task import Decisions, Question, Task, Verdict

__all__ = ["Decisions", "Judge", "Question", "Task", "Verdict", "find_task", "judge", "tasks"]

_WHERE = {
    "Decisions": "compiler_gym.agents.task",
    "Judge": "compiler_gym.agents.judging.judge",
    "Question": "compiler_gym.agents.task",
    "Task": "compiler_gym.agents.task",
    "Verdict": "compiler_gym.agents.task",
    "find_task": "compiler_gym.agents.catalogue",
    "judge": "compiler_gym.agents.judging.judge",
    "tasks": "compiler_gym.agents.catalogue",
}
__getattr__ = door(__name__, _WHERE)
