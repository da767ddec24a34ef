# SPDX-License-Identifier: MIT
"""A compiler for agents that are language models: tools, tasks and a strict judge.

``toolbox`` is the compiler as tools: ``workbench`` holds the environment under it, ``calls``
answers what a model sends, as ``calling`` reads it, ``views`` is what can be seen of a program,
``texts`` makes answers fit. ``episode`` gives an agent one task, a number of calls and a verdict.
``task`` holds the records, ``catalogue`` finds the tasks of every installed compiler by split,
family and difficulty, and ``judging`` replays an agent's decisions in a process of its own and says
what they are worth. ``libraries`` are adapters of agent libraries. Compilers bring their own tasks,
ours in ``llvm`` and ``loop_tool``.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.agents.calling import Tool
    from compiler_gym.tools.agents.calls import Calls
    from compiler_gym.tools.agents.catalogue import find_task, tasks
    from compiler_gym.tools.agents.episode import AgentEpisode
    from compiler_gym.tools.agents.judging.judge import Judge, judge
    from compiler_gym.tools.agents.judging.scoring import Score, score
    from compiler_gym.tools.agents.task import AgentTask, Decisions, Question, Verdict
    from compiler_gym.tools.agents.toolbox import Toolbox

__all__ = [
    "AgentEpisode",
    "AgentTask",
    "Calls",
    "Decisions",
    "Judge",
    "Question",
    "Score",
    "Tool",
    "Toolbox",
    "Verdict",
    "find_task",
    "judge",
    "score",
    "tasks",
]

__getattr__ = door(__name__)
