# SPDX-License-Identifier: MIT
"""Arrays are made once and hold the last of each row; infos are gathered as Gymnasium does."""

import doctest
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler_gym.vector.batch
from compiler_gym.testing import same
from compiler_gym.vector.batch import Batch, infos_as_usual

ARRAY = spaces.Box(-9, 9, (2,), np.int64)
SPACES: list[tuple[gymnasium.Space[Any], list[Any]]] = [
    (ARRAY, [np.array([1, 2]), np.array([3, 4])]),
    (spaces.Discrete(9), [3, 4]),
    (spaces.Dict({"a": ARRAY, "b": spaces.Discrete(3)}), [{"a": np.array([1, 2]), "b": 0},
                                                          {"a": np.array([3, 4]), "b": 2}]),
    (spaces.Text(9), ["one", "two"]),
]  # fmt: skip


@pytest.mark.parametrize(("space", "seen"), SPACES)
def test_each_row_is_where_it_belongs(space: gymnasium.Space[Any], seen: list[Any]) -> None:
    batch = Batch(space, 2)
    for row in (1, 0):
        batch.enter(row, seen[row], row + 0.5, row == 0, row == 1)
    observed = batch.observe(copy=True)
    rows = list(gymnasium.vector.utils.iterate(spaces_of(space), observed))
    assert all(same(row, one) for row, one in zip(rows, seen, strict=True))
    assert batch.rewards.tolist() == [0.5, 1.5]
    assert [ends.tolist() for ends in batch.ends()] == [[True, False], [False, True]]


def spaces_of(space: gymnasium.Space[Any]) -> gymnasium.Space[Any]:
    return gymnasium.vector.utils.batch_space(space, 2)


@pytest.mark.parametrize(("space", "seen"), SPACES)
def test_a_copy_stays_as_it_is(space: gymnasium.Space[Any], seen: list[Any]) -> None:
    batch = Batch(space, 2)
    for row in range(2):
        batch.see(row, seen[row])
    kept, shared = batch.observe(copy=True), batch.observe(copy=False)
    assert same(kept, shared)
    batch.see(0, seen[1])
    assert not same(kept, batch.observe(copy=False))


def test_an_array_is_the_same_one_each_time() -> None:
    batch = Batch(ARRAY, 2)
    shared = batch.observe(copy=False)
    batch.see(1, np.array([5, 6]))
    assert batch.observe(copy=False) is shared is batch.observations
    assert shared.tolist() == [[0, 0], [5, 6]]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=6))
@settings(deadline=None)
def test_rows_that_ended_in_either_way_have_ended(ends: list[tuple[bool, bool]]) -> None:
    batch = Batch(ARRAY, len(ends))
    assert batch.find_ended() == []
    for row, (terminated, truncated) in enumerate(ends):
        batch.enter(row, np.zeros(2, np.int64), 0.0, terminated, truncated)
    assert batch.find_ended() == [row for row, either in enumerate(ends) if any(either)]
    terminations, truncations = batch.ends()
    assert list(zip(terminations.tolist(), truncations.tolist(), strict=True)) == ends
    batch.ends()[0][:] = True
    assert batch.ends()[0].tolist() == [terminated for terminated, _ in ends]


def usual(no_effect: bool, new_space: bool) -> dict[str, Any]:
    return {"action_had_no_effect": no_effect, "new_action_space": new_space}


USUAL = st.builds(usual, st.booleans(), st.booleans())


@given(st.lists(USUAL, min_size=1, max_size=5))
@settings(deadline=None)
def test_infos_as_usual_are_those_that_gymnasium_gathers(said: list[dict[str, Any]]) -> None:
    theirs: dict[str, Any] = {}
    vector: Any = VectorEnv()
    vector.num_envs = len(said)
    for row, info in enumerate(said):
        theirs = vector._add_info(theirs, info, row)
    ours = infos_as_usual(said)
    assert ours is not None
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        assert (ours[key].dtype, ours[key].tolist()) == (value.dtype, value.tolist())


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"action_had_no_effect": True},
        {"action_had_no_effect": True, "new_action_space": None},
        {"action_had_no_effect": True, "new_action_space": 0},
        {"action_had_no_effect": np.True_, "new_action_space": False},
        {"action_had_no_effect": True, "new_action_space": False, "error": "x"},
    ],
)
def test_infos_with_other_keys_are_not_usual(other: dict[str, Any]) -> None:
    assert infos_as_usual([usual(True, False)]) is not None
    assert infos_as_usual([usual(True, False), other]) is None


def test_documented_examples_run() -> None:
    assert doctest.testmod(compiler_gym.vector.batch).failed == 0
