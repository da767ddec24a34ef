# SPDX-License-Identifier: MIT
"""Guesses order what was seen before, across rows and actions."""

import numpy as np
import pytest

from compiler_gym.vector.durations import Durations


def test_actions_and_rows_are_distinguished() -> None:
    generator = np.random.default_rng(0)
    effort = 10 ** generator.uniform(-5, -3, 20)
    size = np.array([1.0, 3.0, 30.0])
    durations = Durations(3)
    for _ in range(3000):
        row, action = int(generator.integers(3)), int(generator.integers(20))
        noise = float(np.exp(generator.normal(0, 0.2)))
        durations.learn([row], [action], [float(effort[action] * size[row]) * noise])
    guesses = np.array([durations.guess([row] * 20, range(20)) for row in range(3)])
    assert np.allclose(guesses, effort * size[:, None], rtol=0.7)
    for row in guesses:
        assert np.corrcoef(np.log(row), np.log(effort))[0, 1] > 0.98


@pytest.mark.parametrize("action", [[1, 2], {"a": 1}, "text", np.int64(3)])
def test_other_actions_have_the_pace_of_their_row(action: object) -> None:
    durations = Durations(2)
    for _ in range(50):
        durations.learn([0, 1], [action] * 2, [1e-4, 1e-1])
    assert durations.guess([0, 1], [action] * 2) == pytest.approx([1e-4, 1e-1], rel=0.01)


def test_nothing_at_all_is_not_a_problem() -> None:
    durations = Durations(1)
    before = durations.guess([0], [0])
    durations.learn([0], [0], [0.0])
    assert durations.guess([0], [0]) == before
    durations.learn([0], [0], [1e-9])
    assert durations.guess([0], [0]) == pytest.approx([1e-9])


def test_remembered_actions_are_bounded() -> None:
    durations = Durations(1)
    for action in range(20_000):
        durations.learn([0], [action], [1e-5])
    guesses = durations.guess([0] * 20_000, range(20_000))
    known = sum(guess == pytest.approx(1e-5, rel=1e-6) for guess in guesses)
    assert 10_000 < known < 20_000
