# SPDX-License-Identifier: MIT
"""The records of a task: the problem for an agent, the agent's decisions, and the verdict.

A task does not contain an answer. If it is a question, the judge finds the answer by replay.
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
"""The maximum length of a command line or an answer, in characters."""


class Question(Enum):
    """A question whose answer is the number of one of the task's actions, from 1."""

    FIRST_DIFFERENCE = "first difference"
    """The first action after which a trace differs from the compiler's result."""
    LARGEST_INCREASE = "largest increase"
    """The action that increases the goal most."""


@dataclass(frozen=True, slots=True)
class AgentTask(Record):
    """One problem for an agent: a program and a goal, or a question about a program."""

    id: str
    """The permanent name of the task: ``family/program``."""
    split: str
    """``train``, ``validation`` or ``test``; packages and seeds are never in two splits."""
    family: str
    """The kind of problem, for example ``fewer-instructions``."""
    difficulty: str
    """``easy``, ``medium`` or ``hard``."""
    env_id: str
    """The environment of the task."""
    benchmark: str
    """The address of the program."""
    action_space: str
    """The action space that decisions must use."""
    goal: str
    """The observation to minimise, or to maximise with `more_is_better`."""
    baseline: str
    """The observation of the goal's value to beat."""
    prompt: str
    """The prompt for the agent: everything it needs besides its tools."""
    more_is_better: bool = False
    max_calls: int = 40
    """The number of tool calls that an agent may make."""
    max_actions: int = 64
    """The largest number of actions in an agent's decisions."""
    seed: int = 0
    checks: tuple[str, ...] = ()
    """The checks of the environment's validation that decisions must pass, besides the replay."""
    question: Question | None = None
    """The question; None if the task is to improve the program."""
    given: tuple[str, ...] = ()
    """The names of the actions in a question, in order."""
    judged_on: str = ""
    """The address of the program that decisions are judged on; empty for `benchmark`."""
    trace: tuple[int, ...] = ()
    """The goal after each of these actions, as another build of the compiler reported it."""

    def __post_init__(self) -> None:
        for name in ("checks", "given", "trace"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # JSON has lists
        if self.question is not None:
            object.__setattr__(self, "question", Question(self.question))
        for value, allowed in ((self.split, SPLITS), (self.difficulty, DIFFICULTIES)):
            if value not in allowed:
                raise InvalidParameterError(
                    f"{self.id}: {value!r:.80} is not one of {', '.join(allowed)}"
                )


@dataclass(frozen=True, slots=True)
class Decisions(Record):
    """The agent's output to be judged. Raises `InvalidParameterError` for wrong types."""

    task: str
    """The ID of the task."""
    commandline: str = ""
    """The actions in the action space's syntax, as ``env.commandline()`` returns them."""
    answer: str = ""
    """The answer to a question: a number."""

    def __post_init__(self) -> None:
        for name in ("task", "commandline", "answer"):
            value: Any = getattr(self, name)
            if not isinstance(value, str):
                raise InvalidParameterError(
                    f"{name} of decisions must be a string (got {type(value).__name__})"
                )
            if len(value) > MOST_LETTERS:
                raise InvalidParameterError(
                    f"{name} must have at most {MOST_LETTERS} characters (got {len(value)})"
                )


@dataclass(frozen=True, slots=True)
class Verdict(Record):
    """The judge's verdict on decisions.

    Raises `InvalidParameterError` for a reward that is negative or not finite.
    """

    task: str
    reward: float
    """The gain if it is above 0 and the decisions are valid, else 0; 1 for the right answer to a
    question."""
    valid: bool
    """True if the decisions can be replayed and the program passes every check."""
    reason: str
    """The reason for the reward, in one line."""
    gain: float = 0.0
    """The logarithm of the program's improvement ratio over the baseline; negative if it is
    worse."""
    baseline: float | None = None
    measured: float | None = None
    """The costs of the baseline (`baseline`) and of the agent's program (`measured`)."""
    checks: tuple[str, ...] = ()
    """The checks that the program passed."""
    box: str = ""
    """The isolation of the judge: ``namespaces`` or ``process``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "checks", tuple(self.checks))
        if not (math.isfinite(self.reward) and self.reward >= 0 and math.isfinite(self.gain)):
            raise InvalidParameterError(
                f"reward {self.reward} and gain {self.gain} must be finite, and reward at least 0"
            )
        if self.reward > 0 and not self.valid:
            raise InvalidParameterError(f"invalid decisions cannot have a reward of {self.reward}")

    @classmethod
    def refuse(cls, task: str, reason: str) -> "Verdict":
        """Return a verdict without a reward, for `reason`."""
        return cls(task, 0.0, valid=False, reason=reason[:500])
