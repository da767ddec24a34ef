# SPDX-License-Identifier: MIT
"""Observations and rewards: chosen, on demand, derived."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler_gym.core import ObservationSpaceSpec, ObservationView, RewardView
from compiler_gym.errors import UnknownNameError
from compiler_gym.session import BoxSpec, ScalarSpec, TextSpec
from compiler_gym.session import ObservationSpaceSpec as PlainSpec
from compiler_gym.spaces import CostReward
from compiler_gym.testing import FakeEnv

MakeEnv = Callable[..., FakeEnv]


def test_every_observation_can_be_requested(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    assert env.observation["number"] == env.observation.number() == 7
    assert env.observation["vector"].tolist() == [7, 49, 1]
    assert env.observation["vector"].dtype == np.int64
    assert env.observation["summary"] == {"even": 0, "text": "7"}
    assert env.observation["blob"] == b"7 bytes"[:0] + bytes(7)
    assert env.observation["half"] == 3


def test_an_array_belongs_to_its_caller(make_env: MakeEnv) -> None:
    env = make_env(observation_space="vector")
    first, _ = env.reset()
    first[:] = 0
    assert env.observation["vector"].tolist() == [7, 49, 1]


def test_nondeterministic_observations_are_computed_again(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    assert env.observation["clock"] < env.observation["clock"]


def test_a_derived_space_can_be_added(make_env: MakeEnv) -> None:
    env = make_env()
    env.observation.add_derived_space("double", "half", lambda half: 2 * half, default_value=-1)
    env.reset(observation_space="double")
    assert env.step(0)[0] == 8
    assert env.observation.spec("double").default_value == -1
    with env.fork() as fork:
        assert fork.observation["double"] == 8


def test_rewards_on_demand_count_from_the_last_time(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    env.observation["number"]
    env.step(2)
    env.reward.add_space(
        CostReward("late", cost="number", initial="number", platform_dependent=False)
    )
    assert env.reward["late"] == 0.0
    env.step(0)
    assert env.reward["late"] == -1.0
    assert env.reward.late() == 0.0


@pytest.mark.parametrize("view", ["observation", "reward"])
def test_an_unknown_space_names_those_there_are(make_env: MakeEnv, view: str) -> None:
    env = make_env()
    with pytest.raises(UnknownNameError, match=r"there (are|is) .*number"):
        getattr(env, view)["weight"]
    with pytest.raises(AttributeError, match="weight"):
        getattr(env, view).weight  # noqa: B018 - the access is what is tested


def views(**answers: Any) -> tuple[ObservationView, list[list[str]]]:
    """Return a view of a number and a text, and what it asks for."""
    asked: list[list[str]] = []

    def ask(names: list[str]) -> list[Any]:
        asked.append(names)
        return [answers[name] for name in names]

    session = [
        PlainSpec("size", ScalarSpec(0, None, "int"), "The size.", default=9),
        PlainSpec("text", TextSpec(), platform_dependent=True, deterministic=False),
        PlainSpec("far", BoxSpec(3, 5, (2,), "int64")),
    ]
    return ObservationView(ask, map(ObservationSpaceSpec.from_plain, session)), asked


def test_a_view_is_a_mapping_that_asks_when_it_is_looked_at() -> None:
    view, asked = views(size=4, text="four")
    assert (list(view), len(view), "size" in view, "weight" in view) == (
        ["size", "text", "far"], 3, True, False,
    )  # fmt: skip
    assert asked == []
    assert (view["size"], view.text()) == (4, "four")
    assert asked == [["size"], ["text"]]
    with pytest.raises(UnknownNameError, match="no observation space 'weight'; there are size"):
        view["weight"]
    with pytest.raises(UnknownNameError, match=r"no observation space \['size'\]"):
        view[["size"]]  # type: ignore[index]  # the mistake under test
    other, _ = views(size=4)
    assert view == view
    assert view != other
    assert len({view, other}) == 2


def test_derived_observations_are_requested_by_their_base() -> None:
    view, asked = views(size=4)
    view.add_derived_space("half", "size", lambda size: size // 2, description="Half of it.")
    view.add_derived_space("quarter", "half", lambda half: half // 2)
    assert (view["quarter"], asked) == (1, [["size"]])
    spec = view.spec("quarter")
    assert (spec.base_id, spec.default_value, spec.description) == ("size", 2, "")
    assert view.spec("half").description == "Half of it."
    assert spec.space is spec.space
    assert spec.sent_as is None
    assert repr(spec) == "ObservationSpaceSpec(quarter)"
    with pytest.raises(UnknownNameError, match="no observation space 'none'"):
        view.add_derived_space("x", "none")


def test_properties_are_inherited_unless_given() -> None:
    view, _ = views()
    view.add_derived_space("same", "text")
    view.add_derived_space(
        "other", "text", deterministic=True, platform_dependent=False, to_string=repr
    )
    same, other = view.spec("same"), view.spec("other")
    assert (same.deterministic, same.platform_dependent, same.to_string("x")) == (False, True, "x")
    assert (other.deterministic, other.platform_dependent) == (True, False)
    assert other.to_string("x") == "'x'"


def test_a_default_is_a_fresh_value_of_the_space() -> None:
    view, _ = views()
    view.add_derived_space("pair", "size", lambda size: [size], default_value=[1, []])
    first = view.spec("pair").default_value
    first[1].append(2)
    assert view.spec("pair").default_value == [1, []]
    assert view.spec("size").default_value == 9
    assert view.spec("text").default_value == ""
    far = view.spec("far")
    assert far.space.contains(far.default_value), "0 is none of its values"


def test_a_reward_on_demand_is_given_what_it_names() -> None:
    view, asked = views(size=4, text="four")
    cost = CostReward("cost", cost="size", initial="size", platform_dependent=False)
    rewards = RewardView([cost], view)
    assert (list(rewards), "cost" in rewards, rewards.spec("cost")) == (["cost"], True, cost)
    rewards.reset("benchmark://fake-v0/7", view)
    assert rewards["cost"] == rewards.cost() == 0.0
    assert asked[0] == ["size"]
    with pytest.raises(UnknownNameError, match="no reward space 'gain'; there is cost"):
        rewards["gain"]
    with pytest.raises(AttributeError, match="gain"):
        rewards.gain  # noqa: B018 - the access is what is tested


def test_a_copy_of_rewards_asks_another_view_and_counts_apart() -> None:
    (view, asked), (other, other_asked) = views(size=4), views(size=1)
    rewards = RewardView(
        [CostReward("cost", cost="size", initial="size", platform_dependent=False)], view
    )
    rewards.reset("benchmark://fake-v0/7", view)
    assert rewards["cost"] == 0.0
    asked.clear()
    twin = rewards.copy(other)
    assert twin["cost"] == 3.0
    assert (asked, other_asked) == ([], [["size"]])
    assert rewards["cost"] == 0.0


def test_views_can_be_copied_without_computing_missing_values() -> None:
    view, _ = views()
    for name in ("__deepcopy__", "_private", "weight"):
        assert not hasattr(view, name)
        assert not hasattr(RewardView([], view), name)
