# SPDX-License-Identifier: MIT
"""Improve a rule, trial by trial: a function proposes a rule, and the environment judges it.

``propose(history) -> rule`` is the one function that a search, a learner or a language model needs.
A trial depends on the earlier ones alone, so an interrupted search continues exactly.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import Record
from compiler_gym.files import append_line

__all__ = ["Propose", "Trial", "read_trials", "search_rules"]


@dataclass(frozen=True, slots=True)
class Trial(Record):
    """A rule that was judged."""

    rule: str
    saved: float
    """The loaded bytes that it saves; 0 if it breaks a program or is not a rule."""
    problem: str = ""
    """The reason why it was not judged, or the program that it breaks."""


Propose = Callable[[Sequence[Trial]], str]
"""Returns the next rule to judge, given all earlier trials in order."""


def search_rules(
    env: CompilerEnv,
    propose: Propose,
    *,
    trials: int,
    log: Path | None = None,
    watch: Callable[[Trial], None] = lambda _: None,
) -> list[Trial]:
    """Judge proposed rules until there are `trials` in all; return all of them in order.

    Args:
        env: The environment, with its programs; each rule gets a new episode.
        propose: Called with all earlier trials; its result starts from no rule.
        trials: The number of trials, including those in `log`.
        log: A file of earlier trials, to which new ones are appended; None keeps no file.
        watch: Called after each new trial.
    """
    history = [] if log is None else read_trials(log)
    while len(history) < trials:
        rule = propose(history)
        env.reset()
        _, reward, _, truncated, info = env.step(rule)
        problem = info.get("error_details", "") if truncated else env.observation["RuleProblem"]
        trial = Trial(rule, 0.0 if problem else float(reward), problem)
        if log is not None:
            append_line(log, trial.dict())
        history.append(trial)
        watch(trial)
    return history


def read_trials(log: Path) -> list[Trial]:
    """Return the trials in the file `log`; none if it does not exist."""
    trials: list[Trial] = []
    with suppress(FileNotFoundError):
        for line in log.read_text("utf-8").splitlines():
            trials.append(Trial(**json.loads(line)))
    return trials
