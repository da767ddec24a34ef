# SPDX-License-Identifier: MIT
"""A task fixes everything but the policy; what it does not say, its compiler does."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.registration import compilers
from compiler_gym.tools.learn.leaderboard import (
    TASKS,
    LeaderboardTask,
    Limit,
    ScoredCost,
    find_task,
    summarise,
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


def costs(*found: float) -> list[ScoredCost]:
    return [ScoredCost(str(i), 200, 100, value) for i, value in enumerate(found)]


def test_the_three_metrics_are_those_of_the_definitions() -> None:
    summary = summarise(costs(100, 50))
    assert summary.share is not None
    assert summary.ratio is not None
    assert summary.saving is not None
    assert summary.share.mean == pytest.approx(math.sqrt(1.0 * 1.5))
    assert summary.ratio.mean == pytest.approx(math.sqrt(2))
    assert summary.saving.mean == pytest.approx(1 - 1 / math.sqrt(2))
    assert summary.improved == 0.5


def test_intervals_hold_the_mean_and_repeat_themselves() -> None:
    values = np.random.default_rng(1).uniform(60, 140, 23)
    first, again = (summarise(costs(*values), seed=3) for _ in range(2))
    assert first == again
    assert first.ratio is not None
    assert first.ratio.low < first.ratio.mean < first.ratio.high
    # Close to the interval of a normal distribution of the logarithms.
    logs = np.log(100 / values)
    half = 1.96 * logs.std() / math.sqrt(len(logs))
    assert math.log(first.ratio.high / first.ratio.mean) == pytest.approx(half, rel=0.15)


def test_equal_results_have_no_width() -> None:
    ratio = summarise(costs(100, 100, 100)).ratio
    assert ratio is not None
    assert (ratio.low, ratio.high) == (pytest.approx(1), pytest.approx(1))


def test_a_program_that_grew_has_no_share_to_take_a_geometric_mean_of() -> None:
    summary = summarise(costs(100, 250))
    assert summary.share is None
    assert summary.ratio is not None


def test_a_baseline_that_saves_nothing_is_left_out_of_the_share() -> None:
    summary = summarise([ScoredCost("a", 100, 100, 90), *costs(100)])
    assert summary.share is not None
    assert summary.share.mean == 1
