# SPDX-License-Identifier: MIT
"""The table of observations fits the engine, and a row that does not is found."""

import re

import pytest
from msgspec import structs

from compiler_gym import _llvm
from compiler_gym.envs.llvm.observations import LEVELS, TABLE
from compiler_gym.envs.llvm.observations.compute import (
    COMPUTE,
    ENGINE,
    describe,
    observation_specs,
)
from compiler_gym.envs.llvm.rewards import make_rewards
from compiler_gym.errors import TableError
from compiler_gym.session import BoxSpec, DictSpec, SpaceSequenceSpec
from compiler_gym.tables import Table

FOREST = TABLE["LoopForest"]


def test_every_row_is_computed() -> None:
    assert list(COMPUTE) == [row.name for row in TABLE.observations]


def test_a_row_that_names_nothing_of_the_engine_is_found() -> None:
    table = Table((structs.replace(FOREST, compute="no_such_function"),))
    with pytest.raises(TableError, match="has no 'no_such_function', which LoopForest need"):
        table.bind(ENGINE)


def test_the_engine_describes_its_tables() -> None:
    row = describe(FOREST)
    assert isinstance(row.space, DictSpec)
    columns = [name for name, *_ in _llvm.describe_tables()["loop_forest"]]
    assert list(row.space.items) == columns
    assert row.default == dict.fromkeys(columns, b"")
    assert row.space.items["is_rotated"] == BoxSpec(0, 1, (-1,), "int8")
    calls = describe(TABLE["CallGraph"])
    assert isinstance(calls.space, DictSpec)
    assert isinstance(calls.space.items["names"], SpaceSequenceSpec)
    assert calls.default["names"] == []


def test_every_table_of_the_engine_is_seen() -> None:
    assert set(_llvm.describe_tables()) == {r.compute for r in TABLE.observations if not r.space}


@pytest.mark.parametrize("name", sorted(_llvm.describe_tables()))
def test_a_table_holds_the_columns_that_it_is_said_to(name: str) -> None:
    module = _llvm.Module(b"define i32 @f(i32 %x) {\n  ret i32 %x\n}\n")
    said = _llvm.describe_tables()[name]
    made = getattr(_llvm, name)(module)
    assert list(made) == [column for column, *_ in said]
    for column, dtype, *_ in said:
        assert isinstance(made[column], list if dtype == "str" else bytes)
        assert f"- {column} ({dtype}): " in getattr(_llvm, name).__doc__


def test_a_description_of_columns_that_are_not_there_is_found() -> None:
    row = structs.replace(FOREST, description="Loops: `function`, `height`.")
    with pytest.raises(
        TableError, match=r"'loop_forest' has no columns height, .* there are function"
    ):
        describe(row)


def test_an_undescribed_space_is_found() -> None:
    with pytest.raises(TableError, match=r"no space: add one .* 'Module\.text'"):
        describe(structs.replace(FOREST, compute="Module.text")).spec()


def test_every_cost_has_baselines_at_each_level_and_four_rewards() -> None:
    specs = {spec.name: spec for spec in observation_specs()}
    rewards = {reward.name: reward for reward in make_rewards()}
    for cost in TABLE.costs:
        assert cost.baselines == tuple(f"{cost.name}{level}" for level in LEVELS)
        for name in (cost.observation, *cost.baselines):
            assert specs[name].deterministic is cost.deterministic
            assert specs[name].space == specs[cost.observation].space
        for name in (cost.observation, *(f"{cost.name}{end}" for end in ("Norm", "O3", "Oz"))):
            assert rewards[name].observation_spaces == [cost.observation]
            assert rewards[name].deterministic is cost.deterministic


def test_observations_from_runs_are_not_deterministic() -> None:
    measured = {row.name for row in TABLE.observations if re.match("Run|Build|Pass|Bitc", row.name)}
    stable = {"Bitcode"}
    assert {r.name for r in TABLE.observations if not r.deterministic} == measured - stable
