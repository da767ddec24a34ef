# SPDX-License-Identifier: MIT
"""Rewards."""

import copy
import math
import pickle
import statistics
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import BenchmarkInitError, ObservationError
from compiler_gym.spaces import (
    BaselineReward,
    ChangeReward,
    CostReward,
    DefaultRewardFromObservation,
    FunctionReward,
    NormalizedCostReward,
    Reward,
    RuntimeReward,
    Scalar,
)


def test_bounds_are_open_unless_given() -> None:
    assert Reward("r").range == (-math.inf, math.inf)
    assert Reward("r", max=1).range == (-math.inf, 1.0)
    reward = Reward("r", min=0, max=1)
    assert reward.range == (0.0, 1.0)
    assert reward.contains(0.5)
    assert not reward.contains(1.5)
    assert isinstance(reward, Scalar)
    reward.max = None
    assert reward.range == (0.0, math.inf)


def test_a_failure_earns_the_default_and_may_take_back_the_episode() -> None:
    assert Reward("r", default_value=-10.0).reward_on_error(0.25) == -10.0
    negating = Reward("r", default_value=-10.0, default_negates_returns=True)
    earned = [0.1, 0.3, -0.15]
    assert sum(earned) + negating.reward_on_error(sum(earned)) == pytest.approx(-10.0)


def test_a_reward_equals_its_name() -> None:
    reward = Reward("r", observation_spaces=["a"])
    assert reward == "r"
    assert reward == Reward("r")
    assert reward != Reward("s")
    assert reward != "s"
    assert reward != Scalar("r")
    assert {"r": 1}[reward] == 1  # type: ignore[index]  # the same hash as its name
    assert str(reward) == "r"
    assert repr(reward) == "Reward('r')"


def test_properties_are_kept() -> None:
    reward = Reward("r", observation_spaces=("a", "b"), success_threshold=1, deterministic=True)
    assert reward.observation_spaces == ["a", "b"]
    assert (reward.success_threshold, reward.deterministic) == (1, True)
    assert reward.platform_dependent is True
    assert Reward("r").observation_spaces == []


def test_id_is_the_old_name_of_name() -> None:
    assert Reward("r").id == "r"
    with pytest.warns(DeprecationWarning, match="use `name`"):
        assert Reward(id="r") == "r"


def test_a_missing_method_of_a_subclass_is_named() -> None:
    reward = Reward("r")
    reward.reset("benchmark://a/b", {})
    reward.start([], {})
    with pytest.raises(NotImplementedError, match="Reward does not define update"):
        reward.update([], [], {})
    with pytest.raises(TypeError, match="needs a name"):
        Reward("")


def test_the_default_reward_is_the_growth_of_its_observation() -> None:
    reward = DefaultRewardFromObservation("flops", success_threshold=5)
    assert reward.name == "flops"
    assert reward.observation_spaces == ["flops"]
    assert reward.success_threshold == 5
    for _ in range(2):
        reward.reset("benchmark://a/b", {})
        assert [reward.update([0], [value], {}) for value in (10, 12, 9)] == [10.0, 2.0, -3.0]


def test_copies_go_on_with_their_own_numbers() -> None:
    reward = DefaultRewardFromObservation("flops")
    reward.update([0], [10], {})
    copies = [copy.deepcopy(reward), pickle.loads(pickle.dumps(reward))]
    reward.update([0], [100], {})
    for other in copies:
        assert other.update([0], [11], {}) == 1.0


def test_it_is_called_with_the_earlier_and_the_current_value() -> None:
    reward = FunctionReward("saved", "size", lambda before, now: before - now, max=9.0)
    reward.reset("benchmark://demo/1", {})
    reward.start([50], {})
    assert [reward.update([0], [size], {}) for size in (45, 47)] == [5.0, -2.0]
    assert (reward.observation_spaces, reward.range[1]) == (["size"], 9.0)


def test_without_a_start_the_first_time_earns_nothing() -> None:
    reward = FunctionReward("saved", "size", lambda before, now: before - now)
    reward.reset("benchmark://demo/1", {})
    assert [reward.update([0], [size], {}) for size in (45, 44)] == [0.0, 1.0]
    reward.reset("benchmark://demo/2", {})
    assert reward.update([0], [7], {}) == 0.0


def test_several_observations_come_as_lists() -> None:
    reward = FunctionReward("both", ["a", "b"], lambda before, now: sum(before) - sum(now))
    reward.start([4, 5], {})
    assert reward.update([0], [3, 5], {}) == 1.0


def test_a_copy_goes_on_with_its_own_numbers() -> None:
    reward = FunctionReward("saved", "size", lambda before, now: before - now)
    reward.start([50], {})
    twin = copy.deepcopy(reward)
    assert reward.update([0], [40], {}) == 10.0
    assert twin.update([0], [49], {}) == 1.0


def test_an_exception_of_the_function_is_not_hidden() -> None:
    reward = FunctionReward("share", "size", lambda before, now: before / now)
    reward.start([50], {})
    with pytest.raises(ZeroDivisionError, match="division"):
        reward.update([0], [0], {})


class View(dict[str, Any]):
    """An observation view that counts what it is asked."""

    asked = 0

    def __getitem__(self, name: str) -> Any:
        self.asked += name == "Runtime"
        return super().__getitem__(name)


def reward() -> RuntimeReward:
    return RuntimeReward(runtime_count=3, warmup_count=1, estimator=statistics.median)


def test_seconds_saved_are_earned() -> None:
    runtime = reward()
    assert runtime.name == "runtime"
    assert runtime.observation_spaces == ["Runtime"]
    assert runtime.default_negates_returns
    runtime.reset("benchmark://a/b", {"IsRunnable": True, "Runtime": [4.0, 2.0, 3.0]})
    assert runtime.update([1], [[2.0, 1.0, 9.0]], {}) == 1.0
    assert runtime.update([1], [[2.5, 2.5, 2.5]], {}) == -0.5


def test_the_program_is_measured_once_per_benchmark() -> None:
    runtime = reward()
    view = View(IsRunnable=True, Runtime=[1.0, 1.0, 1.0])
    for _ in range(3):
        runtime.reset("benchmark://a/b", view)
        assert runtime.update([1], [[0.5, 0.5, 0.5]], view) == 0.5
    assert view.asked == 1
    runtime.reset("benchmark://a/c", view)
    assert view.asked == 2


def test_a_program_that_cannot_run_is_refused_and_not_remembered() -> None:
    runtime = reward()
    with pytest.raises(BenchmarkInitError, match="benchmark://a/b cannot be run"):
        runtime.reset("benchmark://a/b", {"IsRunnable": False})
    runtime.reset("benchmark://a/b", {"IsRunnable": True, "Runtime": [1.0]})
    assert runtime.starting_runtime == 1.0


def test_a_wrong_number_of_times_is_reported() -> None:
    runtime = reward()
    runtime.reset("benchmark://a/b", {"IsRunnable": True, "Runtime": [1.0, 1.0, 1.0]})
    with pytest.raises(ObservationError, match="expected 3 runtimes, got 1"):
        runtime.update([1], [[1.0]], {})
    with pytest.raises(ObservationError, match="reset"):
        reward().update([1], [[1.0, 1.0, 1.0]], {})


def test_a_copy_measures_on_its_own() -> None:
    runtime = reward()
    runtime.reset("benchmark://a/b", {"IsRunnable": True, "Runtime": [3.0, 3.0, 3.0]})
    other = copy.deepcopy(runtime)
    runtime.update([1], [[1.0, 1.0, 1.0]], {})
    assert other.update([1], [[2.0, 2.0, 2.0]], {}) == 1.0


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


@pytest.mark.parametrize(
    ("falls", "earned"), [(False, [0.5, 2.0, -0.5]), (True, [-0.5, -2.0, 0.5])]
)
def test_the_direction_is_chosen(falls: bool, earned: list[float]) -> None:
    reward = ChangeReward("change", "speed", deterministic=False, falls=falls)
    reward.reset("benchmark://demo/1", {})
    reward.start([2.0], {})
    assert [reward.update([0], [speed], {}) for speed in (2.5, 4.5, 4.0)] == earned


def test_an_unseen_value_is_requested_once() -> None:
    reward = ChangeReward("change", "speed", initial="first", deterministic=False)
    reward.reset("benchmark://demo/1", {})
    assert reward.update([0], [5.0], {"first": 2.0}) == 3
    assert reward.update([0], [6.0], {}) == 1


def test_the_first_earns_nothing_where_no_other_is_known() -> None:
    reward = ChangeReward("change", "speed", deterministic=False)
    reward.reset("benchmark://demo/1", {})
    assert reward.update([0], [5.0], {}) == 0


def test_a_reset_forgets_the_last_episode() -> None:
    reward = ChangeReward("change", "speed", deterministic=False)
    reward.start([100.0], {})
    reward.reset("benchmark://demo/1", {})
    assert reward.update([0], [5.0], {}) == 0


def test_a_list_becomes_the_number_that_is_chosen() -> None:
    reward = ChangeReward("saved", "times", deterministic=False, falls=True, number=median)
    reward.start([[9.0, 8.0, 12.0]], {})
    assert reward.update([0], [[3.0, 4.0, 4.0]], {}) == 5
