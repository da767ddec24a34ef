# SPDX-License-Identifier: MIT
"""Options of searches and collections are checked and add up."""

import inspect
from dataclasses import fields
from typing import Any

import pytest
from search.puzzle import make_puzzle

from compiler_gym.cli import search as module
from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.options import CollectOptions, SearchOptions, list_options
from compiler_gym.search import Budget, SearchResult, choose_options, run_search


def test_every_field_is_an_option_of_the_command_line() -> None:
    command = inspect.signature(module.search).parameters
    for name, one in list_options(SearchOptions).items():
        assert one.help
        assert (one.spelling.name or name) in command
    assert [one.name for one in fields(SearchOptions)] == list(list_options(SearchOptions))


def test_only_what_decides_no_result_may_change_in_a_run() -> None:
    may = {name for name, one in list_options(SearchOptions).items() if one.may_change}
    assert may == {"jobs", "kept_processes", "kept_bytes"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", 0),
        ("steps", 0),
        ("steps", 1.5),
        ("jobs", 0),
        ("step_seconds", 0),
        ("level_seconds", float("nan")),
        ("kept_processes", -1),
        ("kept_bytes", -1),
        ("step_seconds", None),
    ],
)
def test_a_number_out_of_its_range_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidParameterError, match=f"{name} must be "):
        SearchOptions(**{name: value})


def test_keywords_and_a_record_say_the_same() -> None:
    def found(*options: SearchOptions, **given: Any) -> tuple[Any, ...]:
        (result,) = run_search(make_puzzle, (None,), *options, **given)
        assert isinstance(result, SearchResult)
        return result.actions, result.steps, result.algorithm

    one = found(algorithm="local", budget=Budget(steps=60), jobs=1, seed=3)
    assert found(SearchOptions(algorithm="local", steps=60, jobs=1, seed=3)) == one
    assert found(SearchOptions(algorithm="greedy", steps=60, seed=3), algorithm="local") == one


def test_additional_arguments_override_the_record() -> None:
    options = SearchOptions(seconds=5, seed=4)
    chosen = choose_options(options, budget=Budget(steps=7), jobs=2)
    assert (chosen.seconds, chosen.steps, chosen.seed, chosen.jobs) == (None, 7, 4, 2)


def test_a_search_without_a_bound_ends_after_a_while() -> None:
    assert SearchOptions().seconds_allowed == 30
    assert SearchOptions(steps=3).seconds_allowed is None
    assert SearchOptions(steps=3, seconds=2).seconds_allowed == 2


def test_an_option_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"no argument 'stepseconds'.*'step_seconds'"):
        run_search(make_puzzle, stepseconds=3)
    with pytest.raises(UnknownNameError, match="no algorithm 'gredy'"):
        run_search(make_puzzle, algorithm="gredy")


@pytest.mark.parametrize(
    ("steps", "length", "shard_steps"), [(1, 1, None), (1005, 100, 250), (10**6, 37, None)]
)
def test_every_run_is_in_one_shard_and_no_step_is_lost(
    steps: int, length: int, shard_steps: int | None
) -> None:
    options = CollectOptions(steps=steps, length=length, shard_steps=shard_steps)
    runs = [run for shard in range(options.shards) for run in options.runs_in(shard)]
    assert runs == list(range(options.runs))
    assert sum(map(options.count_steps, runs)) == steps


def test_shards_do_not_depend_on_the_number_of_processes() -> None:
    one, many = (CollectOptions(steps=10**6, jobs=jobs) for jobs in (1, 64))
    assert one.shards == many.shards
    assert CollectOptions(steps=10**9).steps_of_a_shard == 100_000
    assert CollectOptions(steps=5).steps_of_a_shard == 1_000


def test_a_number_out_of_range_is_refused() -> None:
    with pytest.raises(
        InvalidParameterError, match="steps must be a whole number of at least 1 \\(got 0"
    ):
        CollectOptions(steps=0)
