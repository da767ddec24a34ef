# SPDX-License-Identifier: MIT
"""What is chosen of the spaces there are, and which actions they take."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compiler_gym
from compiler_gym.core import DerivedObservation
from compiler_gym.core.selection import Selection
from compiler_gym.errors import InvalidActionError, SessionNotFound, UnknownNameError
from compiler_gym.service import SessionSource, describe_source
from compiler_gym.session import ActionSpaceSpec, DiscreteSpec
from compiler_gym.spaces import CostReward
from compiler_gym.testing import FakeEnv
from tests.stand_ins import stand_in

MakeEnv = Callable[..., FakeEnv]
NAMES = st.sampled_from(["number", "half", "digits", "vector", "json"])


@pytest.mark.parametrize("action", [1, np.int64(1), np.int8(1)])
def test_an_integer_of_any_kind_is_an_action(make_env: MakeEnv, action: int) -> None:
    env = make_env(observation_space="number")
    env.reset()
    assert env.step(action)[0] == 14
    assert env.actions == [1]


@pytest.mark.parametrize("action", [-1, 5, 1.0, "add", None, [1], np.array([1, 2]), float("nan")])
def test_an_invalid_action_is_refused_before_it_is_sent(make_env: MakeEnv, action: object) -> None:
    env = make_env(observation_space="number")
    env.reset()
    with pytest.raises(InvalidActionError, match="is not an action of"):
        env.step(action)
    with pytest.raises(InvalidActionError, match="is not an action of"):
        env.multistep([0, action])
    assert env.actions == []
    assert env.step(0)[0] == 8


def test_an_action_space_may_shrink_until_the_episode_ends(make_env: MakeEnv) -> None:
    env = make_env(action_space="Menu", observation_space="number")
    for _ in range(2):
        number, _ = env.reset()
        sizes = [env.action_space.n]
        terminated = False
        while not terminated:
            number, _, terminated, truncated, info = env.step(env.action_space.n - 1)
            assert not truncated
            assert info["new_action_space"] is not terminated
            sizes.append(env.action_space.n)
        assert sizes == [4, 3, 2, 1, 1]
        assert number == 7 + 4 + 3 + 2 + 1
        assert not env.in_episode
        with pytest.raises(SessionNotFound, match="reset"):
            env.step(0)


def test_the_program_may_decide_the_first_action_space(make_env: MakeEnv) -> None:
    env = make_env(action_space="Menu")
    env.reset(benchmark="benchmark://fake-v0/7?menu=9")
    assert env.action_space.n == 9
    env.step(8)
    assert env.action_space.n == 8
    env.reset(benchmark="benchmark://fake-v0/7")
    assert env.action_space.n == 4


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, stand_in(lambda env: pickle.loads(pickle.dumps(env)))]
)
def test_copies_have_the_changed_action_space_and_their_own(
    make_env: MakeEnv, duplicate: Callable[[FakeEnv], FakeEnv]
) -> None:
    env = make_env(action_space="Menu", observation_space="number")
    env.reset(benchmark="benchmark://fake-v0/7?menu=9")
    env.step(8)
    with duplicate(env) as twin:
        assert twin.action_space.n == 8
        assert twin.step(7)[0] == 7 + 9 + 8
        assert (twin.action_space.n, env.action_space.n) == (7, 8)
        twin.reset(benchmark="benchmark://fake-v0/1")
        assert twin.action_space.n == 4
        assert env.step(0)[0] == 7 + 9 + 1


def test_the_action_space_changes_at_the_next_reset(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset(action_space="Menu")
    assert env.action_space.n == 4
    env.reset(options={"action_space": "Safe"})
    assert env.action_space.n == 5
    with pytest.raises(UnknownNameError, match="there are Safe, Behaviours, Composite, Menu"):
        env.reset(action_space="Passes")


def unasked(names: list[str]) -> list[Any]:
    raise AssertionError(f"a selection makes no request, found one for {names}")


@pytest.fixture
def selection() -> Selection:
    description = describe_source(
        SessionSource("compiler_gym.testing.fakes:FakeSession"), in_process=True
    )
    half = DerivedObservation("half", "number", lambda number: number // 2)
    cost = CostReward("cost", cost="half", initial="number", platform_dependent=False)
    return Selection(description, [half], [cost], {}, unasked)


def test_at_first_nothing_is_chosen_but_actions(selection: Selection) -> None:
    assert (selection.action_space_name, selection.action_count) == ("Safe", 5)
    assert (selection.observation_space, selection.plan.is_bare) == (None, True)
    assert selection.observations.names is None
    assert selection.rewards.names is None
    assert list(selection.action_specs) == ["Safe", "Behaviours", "Composite", "Menu"]


@given(
    st.none() | NAMES | st.lists(NAMES, max_size=3, unique=True),
    st.none() | st.sampled_from(["cost"]) | st.lists(st.just("cost"), max_size=1),
)
def test_names_make_a_choice_and_the_choice_has_them(
    selection: Selection, observations: Any, rewards: Any
) -> None:
    selection.choose_spaces(observations=observations)
    selection.choose_spaces(rewards=rewards)
    assert selection.observations.names == observations
    assert selection.rewards.names == rewards
    assert (selection.observation_space is None) == (observations is None)
    assert len(set(selection.plan.names)) == len(selection.plan.names)
    again = selection.plan.names
    selection.choose_spaces(observations=selection.observations.names)
    selection.choose_spaces(rewards=selection.rewards.names)
    assert selection.plan.names == again


def test_spaces_stand_for_their_names(selection: Selection) -> None:
    selection.choose_actions(selection.action_space_named("Menu"))
    assert selection.action_space_name == "Menu"
    selection.choose_spaces(observations=selection.observation.spec("half"))
    assert selection.observations.names == "half"
    mine = CostReward("mine", cost="number", initial="number", platform_dependent=False)
    selection.choose_spaces(rewards=mine)
    assert selection.rewards.rewards[0] is mine is selection.reward.spec("mine")
    selection.choose_actions(None)
    assert selection.action_space_name == "Safe"


@pytest.mark.parametrize("name", ["Passes", 3, ["Safe"]])
def test_unknown_spaces_are_not_chosen(selection: Selection, name: Any) -> None:
    with pytest.raises(UnknownNameError, match=r"no action space .*; there are Safe, Behaviours"):
        selection.choose_actions(name)
    with pytest.raises(UnknownNameError, match="no observation space"):
        selection.choose_spaces(observations=["number", name])
    with pytest.raises(UnknownNameError, match=r"no reward space .*; there is cost"):
        selection.choose_spaces(rewards=name)
    assert (selection.action_space_name, selection.observations.names) == ("Safe", None)
    assert selection.rewards.names is None
    assert selection.plan.is_bare


def test_a_reward_of_something_unknown_is_not_chosen(selection: Selection) -> None:
    selection.choose_spaces(rewards="cost")
    plan = selection.plan
    odd = CostReward("odd", cost="weight", initial="weight", platform_dependent=False)
    with pytest.raises(UnknownNameError, match="no observation space 'weight'"):
        selection.choose_spaces(rewards=odd)
    assert selection.rewards.names == "cost"
    assert selection.plan is plan
    assert selection.copy(unasked).rewards.names == "cost"


def test_a_space_is_built_once(selection: Selection) -> None:
    safe = selection.action_space
    selection.choose_actions("Menu")
    selection.choose_actions("Safe")
    assert selection.action_space is safe


def test_actions_that_were_replaced_are_restored(selection: Selection) -> None:
    selection.choose_actions("Menu")
    chosen = selection.action_space
    selection.replace_actions(ActionSpaceSpec("Menu", DiscreteSpec(2)))
    assert (selection.action_count, selection.takes(2)) == (2, False)
    selection.restore_actions()
    assert selection.action_space is chosen
    assert (selection.action_count, selection.takes(2)) == (4, True)


def test_other_actions_are_taken_inside_and_the_chosen_ones_after(selection: Selection) -> None:
    selection.choose_actions("Menu")
    selection.replace_actions(ActionSpaceSpec("Menu", DiscreteSpec(2)))
    replaced = selection.action_space
    with selection.use_actions("Safe"):
        assert (selection.action_count, selection.action_space_name) == (5, "Menu")
    assert selection.action_space is replaced
    for name, error, match in (
        ("Composite", ZeroDivisionError, "with 0 actions"),
        ("Passes", UnknownNameError, "no action space 'Passes'"),
    ):
        with pytest.raises(error, match=match):
            fail_inside(selection, name)
        assert selection.action_space is replaced
        assert selection.action_count == 2


def fail_inside(selection: Selection, name: str) -> None:
    with selection.use_actions(name):
        raise ZeroDivisionError(f"with {selection.action_count} actions")


def test_numbers_that_do_not_begin_at_0_are_looked_up(selection: Selection) -> None:
    selection.replace_actions(ActionSpaceSpec("Menu", DiscreteSpec(3, start=2)))
    assert selection.action_count == 0
    assert [selection.takes(action) for action in range(6)] == [False] * 2 + [True] * 3 + [False]
    assert selection.plain([np.int64(2), 4]) == [2, 4]
    with pytest.raises(InvalidActionError, match=r"1 \(int\) is not an action of"):
        selection.plain([2, 1])


@given(st.lists(st.integers(-2, 7) | st.booleans() | st.just(1.5) | st.just(None), max_size=4))
def test_actions_are_plain_if_each_is_taken(selection: Selection, actions: list[Any]) -> None:
    if all(selection.takes(action) for action in actions):
        plain = selection.plain(actions)
        assert plain == actions
        assert all(type(action) is int for action in plain)
    else:
        with pytest.raises(InvalidActionError, match="is not an action of"):
            selection.plain(actions)


def test_a_step_that_asks_for_others_leaves_what_is_chosen(selection: Selection) -> None:
    selection.choose_spaces(observations="number")
    selection.choose_spaces(rewards="cost")
    plan = selection.plan
    cases: tuple[tuple[Any, Any, list[str]], ...] = (
        ("digits", None, ["digits", "number"]),
        (None, [], ["number"]),
        (["json", "half"], None, ["json", "number"]),
        ([], [], []),
    )
    for observations, rewards, names in cases:
        assert selection.plan_for(observations, rewards).names == names
    assert selection.plan is plan
    with pytest.raises(UnknownNameError, match="no observation space 'none'"):
        selection.plan_for("none", None)
    with pytest.raises(UnknownNameError, match="no reward space 'none'"):
        selection.plan_for(None, "none")


def test_a_copy_shares_no_random_generator(selection: Selection) -> None:
    selection.action_space.seed(3)
    selection.choose_actions("Composite")
    selection.action_space.seed(4)
    twin = selection.copy(unasked)
    assert twin.action_space is twin.action_space_named("Composite")
    drawn = [str(twin.action_space.sample()) for _ in range(5)]
    assert drawn == [str(selection.action_space.sample()) for _ in range(5)]
    for each in (twin, selection):
        each.choose_actions("Safe")
    expected = [twin.action_space.sample() for _ in range(5)]
    assert expected == [selection.action_space.sample() for _ in range(5)]
    twin.choose_actions("Menu")
    assert (selection.action_space_name, selection.action_count) == ("Safe", 5)


def test_a_copy_has_actions_that_were_replaced(selection: Selection) -> None:
    selection.choose_actions("Menu")
    selection.replace_actions(ActionSpaceSpec("Menu", DiscreteSpec(2)))
    twin = selection.copy(unasked)
    assert twin.action_count == 2
    assert twin.action_space is not selection.action_space
    twin.restore_actions()
    assert (twin.action_count, selection.action_count) == (4, 2)


def test_a_copy_shares_no_numbers_of_rewards(selection: Selection) -> None:
    selection.choose_spaces(rewards="cost")
    view = selection.observation
    selection.plan.start([8], view)
    twin = selection.copy(unasked)
    assert twin.rewards.rewards[0] is twin.reward.spec("cost") is not selection.reward.spec("cost")
    assert twin.plan.names == selection.plan.names
    assert twin.plan.reward([0], [4], twin.observation) == 2.0
    assert selection.plan.reward([0], [6], view) == 1.0
    assert twin.plan.reward([0], [4], twin.observation) == 0.0


def test_additions_to_a_copy_are_separate(selection: Selection) -> None:
    twin = selection.copy(lambda names: [7 for _ in names])
    twin.observation.add_derived_space("double", "half", lambda half: 2 * half)
    twin.reward.add_space(
        CostReward("mine", cost="number", initial="number", platform_dependent=False)
    )
    twin.choose_spaces(["double"])
    twin.choose_spaces(rewards="mine")
    assert "double" not in selection.observation
    assert "mine" not in selection.reward
    assert selection.plan.is_bare
    assert twin.observation["double"] == 6, "it asks for itself"


def test_an_action_by_name_is_answered_with_what_to_write(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    name = env.action_space.names[0]
    with pytest.raises(InvalidActionError, match=rf"env\.action_space\['{name}'\] \(0\)"):
        env.step(name)
    with pytest.raises(InvalidActionError, match=rf"did you mean (.*, )?{name}\b"):
        env.step(name[:-1] + "x" + name[-1])
    with pytest.raises(InvalidActionError, match=r"is not an action of [^:]*$"):
        env.step("zzzzzz")
    assert env.actions == []


@pytest.mark.parametrize("action", [5000, -1, np.int64(5000)])
def test_a_number_out_of_range_is_refused_with_the_range(action: Any) -> None:
    with compiler_gym.make("llvm-v0", benchmark="cbench-v1/crc32") as env:
        env.reset()
        last = env.action_space.n - 1
        with pytest.raises(InvalidActionError, match=f"it must be a number from 0 to {last}"):
            env.step(action)
