# SPDX-License-Identifier: MIT
from collections import defaultdict

import pytest

from compiler_gym.datasets import SPLITS, BenchmarkUri
from compiler_gym.errors import UnknownNameError
from compiler_gym_agents import find_task, tasks
from compiler_gym_agents.catalogue import families
from compiler_gym_agents.task import DIFFICULTIES


def package_of(benchmark: str) -> str:
    """Return what must not be in two splits: the package of a program, or its seed."""
    uri = BenchmarkUri.from_string(benchmark)
    name = uri.path.strip("/")
    return f"{uri.dataset} {name.split('/')[0]}"


def test_no_package_and_no_seed_is_in_two_splits() -> None:
    splits: dict[str, set[str]] = defaultdict(set)
    for task in tasks():
        splits[package_of(task.judged_on or task.benchmark)].add(task.split)
    assert {name: found for name, found in splits.items() if len(found) > 1} == {}


def test_there_are_more_than_500_tasks_and_every_family_is_in_every_split() -> None:
    assert len(tasks()) > 500
    assert len(families()) >= 6
    for split in SPLITS:
        assert {task.family for task in tasks(split)} == set(families())
    assert len({task.prompt for task in tasks()}) == len(tasks())


def test_tasks_are_chosen_by_split_family_and_difficulty() -> None:
    whole = tasks()
    assert sum(len(tasks(split)) for split in SPLITS) == len(whole)
    assert sum(len(tasks(difficulty=name)) for name in DIFFICULTIES) == len(whole)
    for task in tasks("test", "fewer-instructions", "easy"):
        assert (task.split, task.family, task.difficulty) == ("test", "fewer-instructions", "easy")
        assert find_task(task.id) is task


@pytest.mark.parametrize(
    ("kind", "name"), [("split", "exam"), ("family", "faster"), ("difficulty", "impossible")]
)
def test_an_unknown_name_is_refused_with_those_there_are(kind: str, name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"no {kind} '{name}'"):
        tasks(**{kind: name})
    with pytest.raises(UnknownNameError, match="no task 'fewer-instructions/cbench-v1/crc33'"):
        find_task("fewer-instructions/cbench-v1/crc33")
