# SPDX-License-Identifier: MIT
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym_agents import Verdict, score, tasks

TASKS = tasks("test", "fewer-instructions")[:4]


def verdict(number: int, reward: float, *, valid: bool = True) -> Verdict:
    """Return a verdict on one of the tasks."""
    return Verdict(TASKS[number].id, reward, valid=valid, reason="", gain=reward)


def test_a_task_without_a_verdict_counts_as_nothing() -> None:
    found = score([verdict(0, 1.0)], TASKS)
    assert (found.reward, found.valid, found.tried, found.tasks) == (0.25, 0.25, 1, 4)


def test_the_best_of_many_tries_is_no_better_than_they_are() -> None:
    tries = [verdict(0, 0.0, valid=False)] * 3 + [verdict(0, 2.0)]
    assert score(tries, TASKS).reward == 0.5 / 4
    assert score(tries, TASKS).valid == 0.25 / 4


def test_a_verdict_on_another_task_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="not one of the 4 tasks"):
        score([Verdict("fewer-instructions/cbench-v1/crc32", 1.0, valid=True, reason="")], TASKS)


def test_a_thousand_large_gains_neither_overflow_nor_become_nothing() -> None:
    assert score([verdict(0, 700.0)] * 1000, TASKS).reward == pytest.approx(175.0)
    assert score([verdict(0, 5e-324)] * 1000, TASKS[:1]).reward == 5e-324
