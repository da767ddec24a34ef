# SPDX-License-Identifier: MIT
"""A task fixes everything but the policy; what it does not say, its compiler does."""

from collections.abc import Iterator

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.registration import compilers
from compiler_gym.tools.learn.leaderboard import (
    TASKS,
    LeaderboardTask,
    Limit,
    find_task,
    task_defaults,
)


@pytest.fixture(scope="module")
def env() -> Iterator[CompilerEnv]:
    with compiler_gym.make("llvm-v0") as made:
        yield made


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (Limit(seconds=10), "10 s"),
        (Limit(seconds=0.5), "0.5 s"),
        (Limit(compilations=7), "7 compilations"),
        (Limit(1.0, 7), "1 s and 7 compilations"),
    ],
)
def test_a_limit_says_what_it_is(limit: Limit, text: str) -> None:
    assert str(limit) == text


def test_a_limit_without_a_bound_is_none() -> None:
    with pytest.raises(InvalidParameterError, match="pass seconds or compilations"):
        Limit()


def test_the_compiler_fills_gaps_of_a_task() -> None:
    plain = LeaderboardTask("t", "A trial", Limit(1.0), environment="llvm-v0")
    for name, usual in task_defaults(compilers()["llvm"]).items():
        assert getattr(plain, name) == usual != ""
    own = LeaderboardTask(
        "t", "A trial", Limit(1.0), environment="llvm-v0", cost="ObjectTextSizeBytes"
    )
    assert own.cost == "ObjectTextSizeBytes"
    assert own.baseline == plain.baseline
    strange = LeaderboardTask("t", "A trial", Limit(1.0), environment="strange-v0")
    assert (strange.cost, strange.reward_space) == ("", "")


def test_datasets_stand_for_their_programs_and_a_goal_is_added_once(env: CompilerEnv) -> None:
    whole = LeaderboardTask("t", "A trial", Limit(1.0), environment="llvm-v0", goal="speed")
    uris = list(whole.uris(env))
    assert len(uris) == 23
    assert all(uri.endswith("?goal=speed") for uri in uris)
    some = whole.only(("cbench-v1/crc32", "cbench-v1/sha?goal=size"))
    assert list(some.uris(env)) == [
        "benchmark://cbench-v1/crc32?goal=speed",
        "benchmark://cbench-v1/sha?goal=size",
    ]


def test_a_submission_records_what_the_task_fixes() -> None:
    recorded = find_task("llvm-ic-unseen").to_json()
    assert recorded["limit"] == "10 s and 100 compilations"
    assert recorded["train"] == ("generator://csmith-v0", "generator://llvm-stress-v0")
    assert recorded["programs"] == ("benchmark://cbench-v1",)


def test_tasks_are_found_by_name() -> None:
    assert all(find_task(name) is task for name, task in TASKS.items())
    with pytest.raises(UnknownNameError, match="no task 'x'; choose from llvm-ic-1s, llvm-ic-10s"):
        find_task("x")
