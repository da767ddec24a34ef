# SPDX-License-Identifier: MIT
"""A compiler for language-model agents: tools, tasks and a strict judge.

``toolbox`` offers the compiler as tools: ``workbench`` holds the environment, ``calls`` answers a
model's calls, which ``calling`` parses, ``views`` shows the program, and ``texts`` makes answers
fit. ``episode`` gives an agent one task, a number of calls and a verdict. ``task`` defines the
records, ``catalogue`` finds the tasks of every installed compiler by split, family and difficulty,
and ``judging`` replays and scores an agent's decisions in a separate process. ``libraries``
contains adapters for agent libraries. Compilers bring their own tasks, as ``llvm`` and
``loop_tool`` do.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym_agents.calling import Tool
    from compiler_gym_agents.calls import Calls
    from compiler_gym_agents.catalogue import find_task, tasks
    from compiler_gym_agents.episode import AgentEpisode
    from compiler_gym_agents.judging.judge import Judge, judge
    from compiler_gym_agents.judging.scoring import Score, score
    from compiler_gym_agents.task import AgentTask, Decisions, Question, Verdict
    from compiler_gym_agents.toolbox import Toolbox

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
