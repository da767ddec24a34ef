# SPDX-License-Identifier: MIT
"""Rewards are arithmetic on measured costs: three numbers are enough to test them."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.spaces.rewards import BaselineReward, CostReward, NormalizedCostReward

PROPERTIES = {"cost": "size", "initial": "size0", "platform_dependent": False}
COSTS = st.lists(st.integers(0, 1000), min_size=1, max_size=8)


class Seen(Mapping[str, float]):
    """Observations that are counted when they are looked at."""

    def __init__(self, **values: float) -> None:
        self.values_of, self.looked = values, list[str]()

    def __getitem__(self, name: str) -> float:
        self.looked.append(name)
        return self.values_of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_of)

    def __len__(self) -> int:
        return len(self.values_of)


def earned(reward: CostReward, start: float, costs: list[int], seen: Seen) -> list[float]:
    reward.reset("benchmark://demo/1", seen)
    reward.start([start], seen)
    return [reward.update([0], [cost], seen) for cost in costs]


@given(st.integers(0, 1000), COSTS)
def test_an_episode_earns_its_saving_on_any_path(start: int, costs: list[int]) -> None:
    reward = CostReward("saved", **PROPERTIES)  # type: ignore[arg-type]  # of several types
    assert sum(earned(reward, start, costs, Seen(size0=start))) == start - costs[-1]


@given(st.integers(1, 1000), COSTS)
def test_a_share_of_the_initial_cost_is_less_than_one(start: int, costs: list[int]) -> None:
    reward = NormalizedCostReward("share", **PROPERTIES)  # type: ignore[arg-type]
    total = sum(earned(reward, start, costs, Seen(size0=start)))
    assert total == pytest.approx((start - costs[-1]) / start)
    assert total <= 1 + 1e-9


@given(st.integers(2, 1000), st.data())
def test_a_tie_with_the_baseline_earns_one(start: int, data: st.DataObject) -> None:
    baseline = data.draw(st.integers(0, start - 1))
    reward = BaselineReward("scaled", baseline="size3", **PROPERTIES)  # type: ignore[arg-type]
    seen = Seen(size0=start, size3=baseline)
    assert sum(earned(reward, start, [start + 7, baseline], seen)) == pytest.approx(1)


@pytest.mark.parametrize(("start", "baseline"), [(10, 10), (10, 12), (0, 0)])
def test_a_baseline_that_saves_nothing_counts_as_saving_one(start: int, baseline: int) -> None:
    reward = BaselineReward("scaled", baseline="size3", **PROPERTIES)  # type: ignore[arg-type]
    assert earned(reward, start, [start - 3], Seen(size0=start, size3=baseline)) == [3]


def test_an_initial_cost_of_nothing_counts_as_one() -> None:
    reward = NormalizedCostReward("share", **PROPERTIES)  # type: ignore[arg-type]
    assert earned(reward, 0, [2], Seen(size0=0)) == [-2]


def test_the_initial_cost_is_looked_at_only_where_the_start_was_not_seen() -> None:
    plain = CostReward("saved", **PROPERTIES)  # type: ignore[arg-type]
    seen = Seen(size0=50)
    earned(plain, 50, [40], seen)
    assert seen.looked == []
    plain.reset("benchmark://demo/1", seen)
    assert plain.update([0], [40], seen) == 10
    assert seen.looked == ["size0"]


def test_the_next_episode_knows_nothing_of_the_last() -> None:
    reward = NormalizedCostReward("share", **PROPERTIES)  # type: ignore[arg-type]
    assert earned(reward, 10, [5], Seen(size0=10)) == [0.5]
    assert earned(reward, 100, [50], Seen(size0=100)) == [0.5]
