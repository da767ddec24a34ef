# SPDX-License-Identifier: MIT
"""Each test of the suite has been seen to fail: these sessions break one rule each."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError
from compiler_gym.service import SessionSource
from compiler_gym.testing import FakeSession, SessionConformance, same, suite, wait_until
from testing.broken_sessions import (
    Chatty,
    Deaf,
    Fickle,
    Forgetful,
    Gullible,
    Hoarder,
    Liar,
    Mute,
    Outsider,
    Parent,
    Picky,
    Placed,
    Restless,
    Rooted,
    Shy,
    Unplain,
    Vague,
)


def suite_of(session: type[FakeSession]) -> SessionConformance:
    class Case(SessionConformance):
        source = SessionSource(f"{session.__module__}:{session.__name__}")
        programs = (Benchmark("benchmark://fake-v0/7", b"7"),)
        bad_programs = (b"seven",)
        action_spaces = ("Safe",)
        observations = ("number",)

    return Case()


@pytest.mark.parametrize(
    ("session", "test"),
    [
        (Restless, "test_the_same_actions_give_the_same_observations"),
        (Placed, "test_an_environment_in_this_process_gives_the_same"),
        (Shy, "test_observing_changes_nothing"),
        (Liar, "test_an_action_without_effect_changes_nothing"),
        (Hoarder, "test_a_reset_forgets_the_last_episode"),
        (Outsider, "test_the_spaces_contain_every_observation"),
        (Outsider, "test_every_default_is_in_its_observation_space"),
        (Mute, "test_the_compiler_describes_itself"),
        (Forgetful, "test_a_fork_is_exact_and_goes_its_own_way"),
        (Forgetful, "test_a_fork_of_a_fork_outlives_both"),
        (Forgetful, "test_a_deep_copy_is_a_fork_and_a_shallow_one_is_refused"),
        (Rooted, "test_a_fork_is_exact_and_goes_its_own_way"),
        (Shy, "test_several_actions_at_once_are_the_same_as_one_by_one"),
        (Placed, "test_a_pickle_replays_the_episode"),
        (Placed, "test_a_crash_ends_the_episode_and_the_next_reset_works"),
        (Vague, "test_the_same_actions_give_the_same_observations"),
    ],
)
def test_the_suite_finds_a_broken_session(session: type[FakeSession], test: str) -> None:
    with pytest.raises(AssertionError):
        getattr(suite_of(session), test)()


def _repeatedly(test: Callable[[], None]) -> None:
    """Run a test a few times: what is done by chance may look right once."""
    for _ in range(20):
        test()


@pytest.mark.parametrize(
    ("session", "space", "test"),
    [
        (Liar, "Menu", "test_an_action_without_effect_changes_nothing"),
        (Liar, "Composite", "test_an_action_without_effect_changes_nothing"),
        (Fickle, "Menu", "test_the_same_actions_give_the_same_observations"),
        (Fickle, "Menu", "test_an_environment_in_this_process_gives_the_same"),
        (Picky, "Composite", "test_the_spaces_contain_every_observation"),
        (Picky, "Composite", "test_a_pickle_replays_the_episode"),
    ],
)
def test_the_suite_looks_into_every_action_space(
    session: type[FakeSession], space: str, test: str
) -> None:
    suite = suite_of(session)
    type(suite).action_spaces = (space,)
    with pytest.raises(AssertionError):
        _repeatedly(getattr(suite, test))


def test_the_suite_finds_a_process_that_outlives_its_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(suite, "wait_until", partial(wait_until, seconds=1.0))  # it never ends
    with pytest.raises(AssertionError):
        suite_of(Parent).test_processes_of_a_worker_end_with_it()


def test_the_suite_finds_a_session_that_knows_every_parameter() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        suite_of(Chatty).test_unknown_names_are_refused()


def test_the_suite_finds_a_value_that_does_not_travel(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="number"):
        suite_of(Unplain).test_returned_values_are_plain(tmp_path)


def test_the_suite_finds_a_session_that_ignores_its_parameters() -> None:
    for session, is_deaf in ((Deaf, True), (FakeSession, False)):
        suite = suite_of(session)
        type(suite).parameters = {"fake.echo": "1"}
        if not is_deaf:
            suite.test_parameters_are_answered_and_the_episode_goes_on()
            continue
        with pytest.raises(InvalidParameterError, match=r"fake\.echo"):
            suite.test_parameters_are_answered_and_the_episode_goes_on()


def test_the_suite_finds_a_session_that_reads_anything() -> None:
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        suite_of(Gullible).test_a_bad_program_is_refused_and_harms_nothing()


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1, True),
        (1, 2, False),
        ({"a": np.arange(3)}, {"a": np.arange(3)}, True),
        ({"a": np.arange(3)}, {"b": np.arange(3)}, False),
        ([np.zeros(2), "x"], (np.zeros(2), "x"), True),
        ([1], [1, 2], False),
        (np.zeros(2), np.zeros(3), False),
        ("text", "text", True),
        ("text", "test", False),
    ],
)
def test_observations_are_compared_by_value(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal
