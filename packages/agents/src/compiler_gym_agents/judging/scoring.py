# SPDX-License-Identifier: MIT
"""Aggregate verdicts, without rewarding skipped tasks or repeated tries."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compiler_gym.errors import InvalidParameterError, Record
from compiler_gym_agents.task import AgentTask, Verdict

__all__ = ["Score", "score"]


@dataclass(frozen=True, slots=True)
class Score(Record):
    """The score of an agent on a set of tasks."""

    reward: float
    """The mean reward over all tasks; a task without a verdict counts as 0."""
    valid: float
    """The mean fraction of valid decisions over all tasks."""
    tried: int
    """The number of tasks with a verdict."""
    tasks: int


def score(verdicts: Iterable[Verdict], tasks: Sequence[AgentTask]) -> Score:
    """Return the score of `verdicts` on `tasks`.

    A task counts once, with the mean of its verdicts, so that more tries do not help. Rewards are
    logarithms and their mean is arithmetic, so it cannot overflow, and a single task cannot make it
    0. Raises `InvalidParameterError` for a verdict on another task.
    """
    by_task: dict[str, list[Verdict]] = defaultdict(list)
    ids = {task.id for task in tasks}
    for verdict in verdicts:
        if verdict.task not in ids:
            raise InvalidParameterError(
                f"a verdict is for {verdict.task!r:.80}, which is not one of the {len(ids)} tasks"
            )
        by_task[verdict.task].append(verdict)
    count = max(len(ids), 1)
    rewards = [math.fsum(v.reward for v in tries) / len(tries) for tries in by_task.values()]
    valid = [sum(v.valid for v in tries) / len(tries) for tries in by_task.values()]
    return Score(math.fsum(rewards) / count, math.fsum(valid) / count, len(by_task), len(ids))
