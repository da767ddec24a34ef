# SPDX-License-Identifier: MIT
"""The debug level is a number, kept where child processes find it."""

import logging
from collections.abc import Iterator

import pytest

import compiler_gym
from compiler_gym.errors import InvalidParameterError


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COMPILER_GYM_DEBUG", "")
    log = logging.getLogger("compiler_gym")
    level = log.level
    yield
    log.setLevel(level)


@pytest.mark.parametrize(
    ("level", "known", "logs"),
    [(0, 0, logging.ERROR), (1, 1, logging.WARNING), (3, 3, logging.DEBUG), (9, 3, logging.DEBUG)],
)
def test_a_level_stands_for_a_level_of_logging(level: int, known: int, logs: int) -> None:
    compiler_gym.set_debug_level(level)
    assert compiler_gym.get_debug_level() == known
    assert compiler_gym.get_logging_level() == logs
    assert logging.getLogger("compiler_gym").level == logs


def test_nothing_is_reported_by_default() -> None:
    assert compiler_gym.get_debug_level() == 0


@pytest.mark.parametrize("level", [-1, True, "2", 1.0])
def test_an_invalid_level_is_refused(level: int) -> None:
    with pytest.raises(InvalidParameterError, match="must be a number from 0 to 3"):
        compiler_gym.set_debug_level(level)


def test_a_variable_that_is_not_a_level_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_DEBUG", "loud")
    with pytest.raises(InvalidParameterError, match=r"must be a number .*'loud'"):
        compiler_gym.get_debug_level()
