# SPDX-License-Identifier: MIT
"""The records of a task: what an agent is asked, what it decided, and what that is worth.

A task holds no answer. Where it is a question, the judge finds the answer itself, by replay.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from compiler_gym.datasets import SPLITS
from compiler_gym.errors import InvalidParameterError, Record

__all__ = [
    "DIFFICULTIES",
    "MOST_LETTERS",
    "AgentTask",
    "Decisions",
    "Question",
    "Verdict",
]

DIFFICULTIES = ("easy", "medium", "hard")
MOST_LETTERS = 1 << 20
"""The longest command line or answer that is looked at."""


class Question(Enum):
    """A question whose answer is the number of one of the task's actions, from 1."""

    FIRST_DIFFERENCE = "first difference"
    """After which action does a trace first differ from what the compiler does?"""
    LARGEST_INCREASE = "largest increase"
    """Which action raises the goal most?"""


@dataclass(frozen=True, slots=True)
class AgentTask(Record):
    """One problem for an agent: a program and a goal, or a question about a program."""

    id: str
    """Its name, for ever: ``family/program``."""
    split: str
    """``train``, ``validation`` or ``test``: no package and no seed is in two of them."""
    family: str
    """What kind of problem it is, for example ``fewer-instructions``."""
    difficulty: str
    """``easy``, ``medium`` or ``hard``."""
    env_id: str
    """The environment that it is solved in."""
    benchmark: str
    """The address of its program."""
    action_space: str
    """The only action space that decisions may be of."""
    goal: str
    """The observation that is to be small, or large with `more_is_better`."""
    baseline: str
    """The observation of the goal that is to be beaten."""
    prompt: str
    """What the agent is told: all that it needs beside its tools."""
    more_is_better: bool = False
    max_calls: int = 40
    """Calls of tools that an agent may make."""
    max_actions: int = 64
    """Actions that its decisions may have."""
    seed: int = 0
    checks: tuple[str, ...] = ()
    """The checks of the environment's validation that decisions must pass, besides the replay."""
    question: Question | None = None
    """What is asked; None where the program is to be made better."""
    given: tuple[str, ...] = ()
    """The names of the actions that a question is about, in order."""
    trace: tuple[int, ...] = ()
    """The goal after each of them, as somebody else's compiler says."""

    def __post_init__(self) -> None:
        for name in ("checks", "given", "trace"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # JSON has lists
        if self.question is not None:
            object.__setattr__(self, "question", Question(self.question))
        for found, known in ((self.split, SPLITS), (self.difficulty, DIFFICULTIES)):
            if found not in known:
                raise InvalidParameterError(
                    f"{self.id}: {found!r:.80}: expected {', '.join(known)}"
                )


@dataclass(frozen=True, slots=True)
class Decisions(Record):
    """All that a judge takes from an agent. Raises `InvalidParameterError` for other types."""

    task: str
    """The id of the task that they were made for."""
    commandline: str = ""
    """The actions, as the action space writes them: ``env.commandline()``."""
    answer: str = ""
    """The answer to a question: a number."""

    def __post_init__(self) -> None:
        for name in ("task", "commandline", "answer"):
            value: Any = getattr(self, name)
            if not isinstance(value, str):
                raise InvalidParameterError(
                    f"{name} is a {type(value).__name__}: expected text of decisions"
                )
            if len(value) > MOST_LETTERS:
                raise InvalidParameterError(
                    f"{name} has {len(value)} letters: expected at most {MOST_LETTERS}"
                )


@dataclass(frozen=True, slots=True)
class Verdict(Record):
    """What decisions are worth, as the judge measured it.

    Raises `InvalidParameterError` for a reward that is not a finite number >= 0.
    """

    task: str
    reward: float
    """The gain where it is above 0 and the decisions are valid; 0 otherwise. 1 for the right
    answer to a question."""
    valid: bool
    """True if the decisions could be replayed and the program passed every check."""
    reason: str
    """Why the reward is what it is, in one line."""
    gain: float = 0.0
    """The logarithm of how many times better than the baseline the program is; negative where it
    is worse."""
    baseline: float | None = None
    measured: float | None = None
    """What was measured of the baseline and of the agent's program."""
    checks: tuple[str, ...] = ()
    """The checks that were passed."""
    box: str = ""
    """What kept the judge apart from everything else: ``namespaces`` or ``process``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "checks", tuple(self.checks))
        if not (math.isfinite(self.reward) and self.reward >= 0 and math.isfinite(self.gain)):
            raise InvalidParameterError(
                f"a reward of {self.reward} for a gain of {self.gain}: expected finite numbers"
            )
        if self.reward > 0 and not self.valid:
            raise InvalidParameterError(f"a reward of {self.reward} for what is not valid")

    @classmethod
    def refuse(cls, task: str, reason: str) -> "Verdict":
        """Return that decisions are worth nothing, and why."""
        return cls(task, 0.0, valid=False, reason=reason[:500])
