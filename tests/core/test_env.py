# SPDX-License-Identifier: MIT
"""Actions of every shape, spaces that change, and episodes that end."""

import copy
import pickle
from collections.abc import Callable
from typing import NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.errors import InvalidActionError, SessionNotFound, UnknownNameError
from compiler_gym.testing import FakeEnv, FakeSession
from compiler_gym.testing.behaviours import BEHAVIOURS

MakeEnv = Callable[..., FakeEnv]
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}


@pytest.mark.parametrize("action", [1, np.int64(1), np.int8(1)])
def test_an_integer_of_any_kind_is_an_action(make_env: MakeEnv, action: int) -> None:
    env = make_env(observation_space="number")
    env.reset()
    assert env.step(action)[0] == 14
    assert env.actions == [1]


@pytest.mark.parametrize("action", [-1, 5, 1.0, "add", None, [1], np.array([1, 2]), float("nan")])
def test_what_is_no_action_is_refused_before_it_is_sent(make_env: MakeEnv, action: object) -> None:
    env = make_env(observation_space="number")
    env.reset()
    with pytest.raises(InvalidActionError, match="is not an action of"):
        env.step(action)
    with pytest.raises(InvalidActionError, match="is not an action of"):
        env.multistep([0, action])
    assert env.actions == []
    assert env.step(0)[0] == 8


@pytest.mark.parametrize("space", ["Behaviours", "Menu"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_a_step_in_this_process_is_the_same_with_and_without_a_request(
    space: str, seed: int
) -> None:
    """With nothing to see `step` asks the session directly; `multistep` never does."""
    calm = ("add", "double", "negate", "nothing", "end", "raise", "fill_disk")
    numbers = [ACTIONS[name] for name in calm]
    with (
        FakeEnv(action_space=space, isolation="in-process") as direct,
        FakeEnv(action_space=space, isolation="in-process") as asked,
    ):
        direct.reset()
        asked.reset()
        direct.action_space.seed(seed)
        generator = np.random.default_rng(seed)
        for _ in range(6):
            sampled = int(direct.action_space.sample())
            action = int(generator.choice(numbers)) if space == "Behaviours" else sampled
            (*one, info), (*other, other_info) = direct.step(action), asked.multistep([action])
            assert one == other
            assert {**info, "error": str(info.get("error"))} == {
                **other_info,
                "error": str(other_info.get("error")),
            }
            assert direct.actions == asked.actions
            assert direct.action_space == asked.action_space
            assert direct.in_episode == asked.in_episode
            if not direct.in_episode:
                break
            assert direct.observation["number"] == asked.observation["number"]


def test_an_interrupt_in_this_process_ends_the_session_and_the_next_episode_starts() -> None:
    with FakeEnv(isolation="in-process") as env:
        env.reset()
        env.step(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FakeSession, "apply_action", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                env.step(0)
        *_, truncated, info = env.step(0)
        assert truncated
        assert info["error_type"] == "SessionNotFound"
        env.reset()
        assert env.observation["number"] == 7


def _interrupted(session: FakeSession, action: object) -> NoReturn:
    raise KeyboardInterrupt


def test_a_composite_action_reaches_the_session_as_plain_values(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", action_space="Composite")
    env.reset()
    action = {
        "levels": np.array([2, 3]),
        "weights": np.array([0.5, -0.25], dtype=np.float32),
        "order": np.array([3, 1, 0, 2]),
        "pair": (4, 9),
    }
    assert env.step(action)[0] == 7 + (2 + 3) + (4 + 9) + 3 + 25
    assert env.actions == [
        {"levels": [2, 3], "weights": [0.5, -0.25], "order": [3, 1, 0, 2], "pair": [4, 9]}
    ]


def test_an_episode_of_composite_actions_is_replayed(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", action_space="Composite")
    env.reset()
    env.action_space.seed(3)
    for _ in range(3):
        number = env.step(env.action_space.sample())[0]
    with pickle.loads(pickle.dumps(env)) as twin:
        assert twin.observation["number"] == number
    state = env.state
    other = make_env(action_space="Composite")
    other.apply(state)
    assert other.observation["number"] == number


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


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
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


def test_several_actions_stop_at_the_end_of_the_episode(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours", observation_space="number")
    env.reset()
    actions = [ACTIONS["add"], ACTIONS["end"], ACTIONS["add"], ACTIONS["add"]]
    number, _, terminated, truncated, _ = env.multistep(actions)
    assert (number, terminated, truncated) == (9, True, False)
    assert env.actions == actions[:2]


def test_no_actions_are_an_observation(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", reward_space="number")
    env.reset()
    number, reward, terminated, truncated, info = env.multistep([])
    assert (number, reward, terminated, truncated) == (7, 0.0, False, False)
    assert info["action_had_no_effect"]


def test_an_action_without_effect_is_reported(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    effects = [env.step(action)[4]["action_had_no_effect"] for action in (0, 3, 2)]
    assert effects == [False, True, False]
    assert env.multistep([3, 3])[4]["action_had_no_effect"]
    assert not env.multistep([3, 0])[4]["action_had_no_effect"]


def test_the_action_space_changes_at_the_next_reset(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset(action_space="Menu")
    assert env.action_space.n == 4
    env.reset(options={"action_space": "Safe"})
    assert env.action_space.n == 5
    with pytest.raises(UnknownNameError, match="there are Safe, Behaviours, Composite, Menu"):
        env.reset(action_space="Passes")


def test_a_step_before_reset_says_what_to_do(make_env: MakeEnv) -> None:
    env = make_env()
    with pytest.raises(SessionNotFound, match=r"call reset\(\)"):
        env.step(0)
