# SPDX-License-Identifier: MIT
"""The table of options, and how choices are written."""

import pytest

from compiler_gym.envs.llvm.actions.codegen_options import (
    DEFAULT,
    OPTIONS,
    find_numbers,
    flags,
    fold_choices,
    llc_words,
    read_llc,
    split_choices,
    write_pipeline,
)
from compiler_gym.errors import InvalidActionError


def test_the_table_names_each_option_and_value_once() -> None:
    names = [option.name for option in OPTIONS]
    assert len(set(names)) == len(names) > 40
    for option in OPTIONS:
        assert option.values[0] == DEFAULT
        assert len(set(option.values)) == len(option.values) > 1
        assert option.tier in ("core", "rare")
        assert option.description


def test_there_is_an_action_for_each_value() -> None:
    items, sets = flags()
    assert len(items) == sum(len(option.values) for option in OPTIONS)
    assert sorted(set(sets)) == list(range(len(OPTIONS)))
    assert items[1].flag == f"codegen<{OPTIONS[0].name}={OPTIONS[0].values[1]}>"


def test_numbers_pipelines_and_choices_say_the_same() -> None:
    numbers = [len(option.values) - 1 for option in OPTIONS]
    passes, chosen = split_choices([write_pipeline(numbers)])
    assert passes == []
    assert find_numbers(chosen) == numbers
    assert read_llc(["-filetype=obj", *llc_words(chosen), "-o", "out.o"]) == chosen


def test_of_several_choices_of_an_option_the_last_counts() -> None:
    assert fold_choices({"a": "1"}, ["b=2", "a=3"]) == {"a": "3", "b": "2"}
    assert fold_choices({"a": "1"}, ["a=default"]) == {}
    assert fold_choices({"a": "1"}, ["reset", "b=2"]) == {"b": "2"}


@pytest.mark.parametrize("numbers", [[], [0], [-1] * len(OPTIONS), [99] * len(OPTIONS)])
def test_invalid_indices_of_values_are_refused(numbers: list[int]) -> None:
    with pytest.raises(InvalidActionError, match=r"an action has|must be a number"):
        write_pipeline(numbers)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"no-such": "1"}, "no option 'no-such'"),
        ({"regalloc": "slow"}, "regalloc cannot be 'slow'"),
    ],
)
def test_an_unavailable_choice_is_refused(chosen: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidActionError, match=message):
        find_numbers(chosen)
    with pytest.raises(InvalidActionError, match=message):
        read_llc(llc_words(chosen))
