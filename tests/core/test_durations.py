# SPDX-License-Identifier: MIT
"""Guesses order what was seen before, across rows and actions."""

import numpy as np
import pytest

from compiler_gym.core.durations import Durations


def test_actions_and_rows_are_told_apart() -> None:
    generator = np.random.default_rng(0)
    effort = 10 ** generator.uniform(-5, -3, 20)
    size = np.array([1.0, 3.0, 30.0])
    durations = Durations(3)
    for _ in range(3000):
        row, action = int(generator.integers(3)), int(generator.integers(20))
        noise = float(np.exp(generator.normal(0, 0.2)))
        durations.learn(row, action, float(effort[action] * size[row]) * noise)
    guesses = np.array([[durations.guess(row, action) for action in range(20)] for row in range(3)])
    assert np.allclose(guesses, effort * size[:, None], rtol=0.7)
    for row in guesses:
        assert np.corrcoef(np.log(row), np.log(effort))[0, 1] > 0.98


@pytest.mark.parametrize("action", [[1, 2], {"a": 1}, "text", np.int64(3)])
def test_other_actions_have_the_pace_of_their_row(action: object) -> None:
    durations = Durations(2)
    for _ in range(50):
        durations.learn(0, action, 1e-4)
        durations.learn(1, action, 1e-1)
    assert durations.guess(0, action) == pytest.approx(1e-4, rel=0.01)
    assert durations.guess(1, action) == pytest.approx(1e-1, rel=0.01)


def test_nothing_at_all_is_no_problem() -> None:
    durations = Durations(1)
    durations.learn(0, 0, 0.0)
    assert durations.guess(0, 0) < 1e-3
