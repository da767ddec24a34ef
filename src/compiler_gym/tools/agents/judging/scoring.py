# SPDX-License-Identifier: MIT
"""Adds up verdicts, so that nothing is won by leaving tasks out or by trying one often."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compiler_gym.errors import InvalidParameterError, Record
from compiler_gym.tools.agents.task import AgentTask, Verdict

__all__ = ["Score", "score"]


@dataclass(frozen=True, slots=True)
class Score(Record):
    """What an agent is worth on a set of tasks."""

    reward: float
    """The mean reward of all tasks; one without a verdict has 0."""
    valid: float
    """The share of tasks whose decisions were valid, in the mean."""
    tried: int
    """Tasks that have a verdict."""
    tasks: int


def score(verdicts: Iterable[Verdict], tasks: Sequence[AgentTask]) -> Score:
    """Return the score of `verdicts` on `tasks`.

    A task counts once, with the mean of its verdicts: the best of many tries is no better than
    they are. The mean is arithmetic, of logarithms: it neither overflows nor becomes 0 by
    one task alone. Raises `InvalidParameterError` for a verdict on another task.
    """
    found: dict[str, list[Verdict]] = defaultdict(list)
    known = {task.id for task in tasks}
    for verdict in verdicts:
        if verdict.task not in known:
            raise InvalidParameterError(
                f"a verdict on {verdict.task!r:.80}: expected one of the {len(known)} tasks"
            )
        found[verdict.task].append(verdict)
    count = max(len(known), 1)
    rewards = [math.fsum(one.reward for one in each) / len(each) for each in found.values()]
    valid = [sum(one.valid for one in each) / len(each) for each in found.values()]
    return Score(math.fsum(rewards) / count, math.fsum(valid) / count, len(found), len(known))
