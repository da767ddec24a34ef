# SPDX-License-Identifier: MIT
"""What a request asks for, and what is made of the answers."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym import spaces
from compiler_gym.core import ObservationSpaceSpec, ObservationView
from compiler_gym.core.plan import ObservationChoice, ObservationPlan, RewardChoice
from compiler_gym.errors import UnknownNameError
from compiler_gym.session import BoxSpec, ScalarSpec, TextSpec
from compiler_gym.session import ObservationSpaceSpec as PlainSpec
from compiler_gym.spaces import Reward
from compiler_gym.testing import FakeEnv

MakeEnv = Callable[..., FakeEnv]


def test_a_list_of_spaces_gives_a_dictionary(make_env: MakeEnv) -> None:
    env = make_env(observation_space=["digits", "half"])
    assert env.reset()[0] == {"digits": "7", "half": 3}
    assert env.step(0)[0] == {"digits": "8", "half": 4}


def test_a_step_may_ask_for_other_spaces(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", reward_space="number")
    env.reset()
    observations, rewards, *_ = env.step(
        0, observation_spaces=["half", "digits"], reward_spaces=["number"]
    )
    assert observations == [4, "8"]
    assert rewards == [-1.0]
    assert env.step(0, observation_spaces="digits")[0] == "9"
    assert env.step(0)[0] == 10


@pytest.fixture
def view() -> ObservationView:
    session = [
        PlainSpec("size", ScalarSpec(0, None, "int"), default=9),
        PlainSpec("time", ScalarSpec()),
        PlainSpec("counts", BoxSpec(0, 9, (2,), "int64")),
        PlainSpec("some", BoxSpec(0, 9, (-1,), "int64")),
        PlainSpec("text", TextSpec(), default="none"),
    ]
    view = ObservationView(unasked, map(ObservationSpaceSpec.from_plain, session))
    view.add_derived_space("half", "size", lambda size: size // 2)
    view.add_derived_space("twice", "size", lambda size: size * 2)
    return view


def unasked(names: list[str]) -> list[Any]:
    raise AssertionError(f"a plan makes no request, found one for {names}")


class Sum(Reward):
    """The sum of what it sees; it notes what it is told."""

    def __init__(self, name: str, *seen: str, on_error: float = -1.0) -> None:
        super().__init__(name, observation_spaces=seen, default_value=on_error)
        self.told: list[Any] = []

    def start(self, observations: Any, observation_view: Any) -> None:
        self.told.append(("start", list(observations)))

    def update(self, actions: Any, observations: Any, observation_view: Any) -> float:
        self.told.append((list(actions), list(observations)))
        return sum(observations)


def plan_of(
    view: ObservationView, observations: Any, *rewards: Reward, shape: Any = "list"
) -> ObservationPlan:
    found = {reward.name: reward for reward in rewards}
    names: Any = list(found) if shape == "list" else next(iter(found), None)
    return ObservationPlan(
        ObservationChoice.for_names(observations, view),
        RewardChoice.for_names(names, found.__getitem__),
        view,
    )


@given(
    st.lists(st.sampled_from(["size", "half", "twice", "time", "text"]), max_size=6, unique=True),
    st.lists(st.lists(st.sampled_from(["size", "half", "twice", "time"]), max_size=3), max_size=3),
    st.integers(0, 99),
)
def test_each_observation_is_requested_once_and_shared(
    view: ObservationView, seen: list[str], inputs: list[list[str]], size: int
) -> None:
    rewards = [Sum(f"reward {number}", *names) for number, names in enumerate(inputs)]
    plan = plan_of(view, seen, *rewards)
    assert len(set(plan.names)) == len(plan.names)
    needed = {view.spec(name).base_id for names in (seen, *inputs) for name in names}
    assert set(plan.names) == needed
    plain: dict[str, Any] = {"size": size, "time": 0.5, "text": "x"}
    values = {**plain, "half": size // 2, "twice": 2 * size}
    answers = [plain[name] for name in plan.names]
    assert plan.observe(answers) == {name: values[name] for name in seen}
    assert plan.reward([3], answers, view) == [sum(values[n] for n in names) for names in inputs]
    plan.start(answers, view)
    for reward, names in zip(rewards, inputs, strict=True):
        found = [values[name] for name in names]
        assert reward.told == [([3], found), ("start", found)]


def test_a_reset_also_requests_what_a_reward_starts_from(view: ObservationView) -> None:
    class Started(Sum):
        def start(self, observations: Any, observation_view: Any) -> None:
            self.told.append((list(observations), observation_view["half"]))

    reward = Started("reward", "time")
    reward.initial_spaces = ["half", "time", "no such observation"]
    plan = plan_of(view, None, reward)
    assert (plan.names, plan.first_names) == (["time"], ["time", "size"])
    unavailable = view.copy(lambda names: pytest.fail(f"{names} were requested once more"))
    plan.start([0.5, 8], unavailable)
    assert reward.told == [([0.5], 4)]


@pytest.mark.parametrize(
    ("chosen", "seen", "default", "kind"),
    [
        (None, None, None, type(None)),
        ("half", 4, 4, spaces.Scalar),
        (["size"], {"size": 8}, {"size": 9}, spaces.Dict),
        (("size", "half"), {"size": 8, "half": 4}, {"size": 9, "half": 4}, spaces.Dict),
        ([], {}, {}, spaces.Dict),
    ],
)
def test_a_choice_has_the_shape_that_was_requested(
    view: ObservationView, chosen: Any, seen: Any, default: Any, kind: type
) -> None:
    choice = ObservationChoice.for_names(chosen, view)
    plan = plan_of(view, chosen)
    assert plan.observe([8][: len(plan.names)]) == seen
    assert choice.defaults() == default
    assert type(choice.space()) is kind
    assert choice.lone is (view.spec("half") if chosen == "half" else None)
    asked = ObservationChoice.for_step(chosen, view)
    several = list(seen.values()) if hasattr(seen, "values") else None
    assert asked.collect([seen] if several is None else several) == (
        seen if several is None else several
    )


def test_rewards_have_the_shape_that_was_requested(view: ObservationView) -> None:
    one, other = Sum("one", "size"), Sum("other", "half", "time", on_error=-2.0)
    for rewards, shape, earned, on_error in (
        ((), "list", [], []),
        ((), "one", None, None),
        ((one,), "one", 8.0, -1.0),
        ((one,), "list", [8.0], [-1.0]),
        ((other,), "one", 4.5, -2.0),
        ((one, other), "list", [8.0, 4.5], [-1.0, -2.0]),
    ):
        plan = plan_of(view, None, *rewards, shape=shape)
        answers = [{"size": 8, "time": 0.5}[name] for name in plan.names]
        assert plan.reward([0], answers, view) == earned
        assert plan.reward_on_error(3.0) == on_error
        assert plan.is_bare == (not rewards)


def test_an_enum_or_a_space_may_stand_for_a_name(view: ObservationView) -> None:
    class Names(Enum):
        name_of_it = "size"

        @property
        def id(self) -> str:
            return self.value

    assert ObservationChoice.for_names(Names.name_of_it, view).names == "size"
    reward = Sum("one", "size")
    assert RewardChoice.for_names([reward], {"one": reward}.__getitem__).names == ["one"]


def test_an_unknown_name_is_reported_when_the_plan_is_made(view: ObservationView) -> None:
    with pytest.raises(UnknownNameError, match="no observation space 'weight'; there are size"):
        ObservationChoice.for_names(["size", "weight"], view)
    with pytest.raises(UnknownNameError, match="no observation space 'weight'"):
        plan_of(view, None, Sum("one", "weight"))


@pytest.mark.parametrize(
    ("seen", "inputs", "raw"),
    [
        ("counts", ["size"], (0, 1, False, "int64", (2,))),
        ("counts", ["time"], (0, 1, True, "int64", (2,))),
        ("counts", ["counts"], None),
        ("counts", ["half"], None),
        ("counts", ["text"], None),
        ("counts", ["size", "time"], None),
        (["counts"], ["size"], None),
        ("some", ["size"], None),
        ("size", ["size"], None),
        (None, ["size"], None),
    ],
)
def test_only_an_array_and_a_number_are_read_without_translation(
    view: ObservationView, seen: Any, inputs: list[str], raw: Any
) -> None:
    reward = Sum("one", *inputs)
    found = plan_of(view, seen, reward, shape="one").raw
    assert found == (None if raw is None else (*raw, reward))
    assert plan_of(view, seen, reward, shape="list").raw is None
