# SPDX-License-Identifier: MIT
"""Rows become spaces, baselines and rewards; rows that contradict each other are refused."""

from typing import Any

import pytest
from msgspec import structs

from compiler_gym.errors import CompilerError, TableError
from compiler_gym.session import ObservationSpec, ScalarSpec
from compiler_gym.tables import Cost, Level, Observation, Table, cost_rewards

COUNT = ScalarSpec(0, None, "int")
SIZE = Observation(
    name="size_bytes",
    space=COUNT,
    description="The size of it. In bytes.",
    compute="count",
    platform_dependent=True,
    default=0,
)
TEXT = Observation(name="text", space=COUNT, description="What it says.", compute="read")
COST = Cost(
    name="size",
    observation="size_bytes",
    unit="bytes",
    platform_dependent=True,
    levels=(Level("_o0", "-O0", "at -O0"), Level("_os", "-Os", "at -Os")),
    scales=("_os",),
    normalized="_norm",
)


def cost(**changes: Any) -> Cost:
    return structs.replace(COST, **changes)


def test_a_row_becomes_the_description_for_clients() -> None:
    assert SIZE.spec() == ObservationSpec(
        "size_bytes", COUNT, "The size of it. In bytes.", platform_dependent=True, default=0
    )


def test_a_cost_stands_where_its_baselines_are_listed() -> None:
    table = Table((SIZE, TEXT, COST))
    assert [row.name for row in table.observations] == ["size_bytes", "text", "size_o0", "size_os"]
    assert [s.name for s in Table((SIZE, COST, TEXT)).specs()] == [
        "size_bytes", "size_o0", "size_os", "text",
    ]  # fmt: skip


def test_a_baseline_is_the_observation_at_a_level() -> None:
    row = Table((SIZE, COST))["size_os"]
    assert row == structs.replace(
        SIZE, name="size_os", level="-Os", description="The size of it, at -Os."
    )


def test_a_table_has_no_row_of_another_name() -> None:
    with pytest.raises(KeyError, match="size"):
        Table((SIZE, COST))["size"]


def test_a_cost_makes_its_rewards() -> None:
    rewards = cost_rewards((COST,))
    assert [reward.name for reward in rewards] == ["size_bytes", "size_norm", "size_os"]
    assert all(reward.observation_spaces == ["size_bytes"] for reward in rewards)
    assert all(reward.platform_dependent and reward.deterministic for reward in rewards)
    scaled = rewards[-1]
    scaled.start([100], {"size_o0": 100, "size_os": 80})
    assert scaled.update([0], [90], {}) == 0.5


def test_a_cost_that_scales_nothing_has_one_reward() -> None:
    plain = cost(scales=(), normalized="")
    assert [reward.name for reward in cost_rewards((plain,))] == ["size_bytes"]


def test_a_cost_that_is_measured_makes_rewards_that_are_not_deterministic() -> None:
    assert not any(reward.deterministic for reward in cost_rewards((cost(deterministic=False),)))


def test_rewards_are_fresh() -> None:
    assert cost_rewards((COST,))[0] is not cost_rewards((COST,))[0]


def test_names_are_joined_to_what_computes_them() -> None:
    bound = Table((SIZE, TEXT, COST)).bind({"count": len, "read": str, "unused": int})
    assert bound == {"size_bytes": len, "text": str, "size_o0": len, "size_os": len}


def test_an_unknown_name_of_the_engine_is_found() -> None:
    expected = r"no 'count', which size_bytes, size_o0, size_os need: it has read"
    with pytest.raises(TableError, match=expected):
        Table((SIZE, TEXT, COST)).bind({"read": str})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((SIZE, SIZE), "several rows define the observation size_bytes"),
        ((SIZE, structs.replace(TEXT, name="size_os"), COST), "define the observation size_os"),
        ((SIZE, COST, cost(name="bytes")), "several rows define the reward size_bytes"),
        ((TEXT, COST), "the cost size has no observation 'size_bytes': there are text"),
        ((SIZE, cost(platform_dependent=False)), "must agree on `platform_dependent`"),
        ((SIZE, cost(deterministic=False)), "must agree on `deterministic`"),
        ((SIZE, cost(unit="")), "the cost size has no unit"),
        ((SIZE, cost(levels=(), scales=())), "the cost size has no baseline"),
        ((SIZE, cost(scales=("_o3",))), "no baseline _o3, which scales a reward: .* _o0, _os"),
        ((structs.replace(SIZE, name=""),), "a row for 'count' has no name"),
        ((structs.replace(SIZE, compute=""),), "size_bytes has no function in `compute`"),
        ((structs.replace(SIZE, description=""),), "size_bytes has no description"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Table(rows)


def test_a_row_without_a_space_is_found() -> None:
    table = Table((structs.replace(TEXT, space=None),))
    with pytest.raises(TableError, match="text has no space: add one to its row or to 'read'"):
        table.specs()


def test_an_error_of_a_table_is_the_compilers() -> None:
    assert issubclass(TableError, CompilerError)
