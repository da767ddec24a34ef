# SPDX-License-Identifier: MIT
import copy
import math
import pickle

import pytest

from compiler_gym.spaces import DefaultRewardFromObservation, Reward, Scalar


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
