# SPDX-License-Identifier: MIT
"""What users see of an environment: composite actions, parameters, programs, states."""

import copy
import logging
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler_gym.core import CompilerEnvState, StateVersionWarning
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerGymError,
    CompilerGymWarning,
    InvalidActionError,
    InvalidParameterError,
    SessionError,
    UnknownNameError,
)
from compiler_gym.testing import FakeEnv
from compiler_gym.testing.fakes import BEHAVIOURS
from tests.stand_ins import stand_in

MakeEnv = Callable[..., FakeEnv]
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}


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
    number = None
    for _ in range(3):
        number = env.step(env.action_space.sample())[0]
    with pickle.loads(pickle.dumps(env)) as twin:
        assert twin.observation["number"] == number
    state = env.state
    other = make_env(action_space="Composite")
    other.apply(state)
    assert other.observation["number"] == number


@pytest.mark.parametrize("wrong", ["fake-v0/nothing-of-the-kind", "nope", 42])
def test_a_program_that_is_refused_leaves_the_chosen_one(make_env: MakeEnv, wrong: Any) -> None:
    env = make_env(observation_space="number", benchmark="fake-v0/9")
    with pytest.raises((CompilerGymError, ValueError)):
        env.reset(benchmark=wrong)
    assert env.reset()[0] == 9


def test_parameters_are_answered_or_refused(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number")
    env.reset()
    assert env.send_params(("fake.echo", "hello"), ("fake.add", "3")) == ["hello", "10"]
    with pytest.raises(InvalidParameterError, match=r"no parameter 'fake\.unknown'"):
        env.send_param("fake.unknown", "1")
    assert env.in_episode


def test_an_observation_after_a_parameter_is_made_anew(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    assert env.observation["number"] == 7
    env.send_param("fake.add", "3")
    assert env.observation["number"] == 10


def test_random_programs_repeat_with_the_seed(make_env: MakeEnv) -> None:
    env = make_env()
    found: list[list[str]] = []
    for _ in range(2):
        env.reset(seed=11)
        found.append([str(env.datasets.random_benchmark()) for _ in range(5)])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"isolation": "thread"}, InvalidParameterError, "isolation must be 'process' or"),
        (
            {"render_mode": "rgb_array"},
            InvalidParameterError,
            "must be human, ansi, diff or ansi_diff",
        ),
        ({"action_space": "Passes"}, UnknownNameError, "no action space 'Passes'"),
        ({"observation_space": "Passes"}, UnknownNameError, "no observation space 'Passes'"),
        ({"reward_space": "Passes"}, UnknownNameError, "no reward space 'Passes'"),
        ({"benchmark": "no such:address//"}, ValueError, "no such"),
    ],
)
def test_an_impossible_environment_is_refused(
    arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        FakeEnv(**arguments)


def test_options_count_more_than_arguments_of_a_reset(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", benchmark="benchmark://fake-v0/3")
    options = {"benchmark": "benchmark://fake-v0/5", "observation_space": "digits"}
    seen, _ = env.reset(options=options, benchmark="benchmark://fake-v0/4", reward_space="number")
    assert (seen, env.reward_space) == ("5", "number")
    assert env.reset(options={"observation_space": None, "reward_space": None})[0] is None
    assert (env.observation_space, env.reward_space, str(env.benchmark)) == (
        None, None, "benchmark://fake-v0/5",
    )  # fmt: skip


def test_a_program_that_was_set_is_that_of_the_next_reset(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number")
    assert str(env.benchmark) == "benchmark://fake-v0/7"
    env.reset()
    with pytest.warns(CompilerGymWarning, match=r"no effect until reset\(\)") as warned:
        env.benchmark = "benchmark://fake-v0/4"
    assert [each.filename for each in warned] == [__file__]
    assert str(env.benchmark) == "benchmark://fake-v0/7", "the episode goes on"
    assert env.reset()[0] == 4
    assert env.reset()[0] == 4
    for kind in (BenchmarkInitError, TypeError):
        with pytest.raises(kind, match="a benchmark must be a URI or a Benchmark \\(got int"):
            env.benchmark = 3  # type: ignore[assignment]  # the mistake under test


def test_without_a_program_nothing_begins() -> None:
    class Blank(FakeEnv):
        default_benchmark = None

    with (
        Blank() as env,
        pytest.raises(BenchmarkInitError, match=r"no benchmark is set: call reset"),
    ):
        env.reset()


def test_a_state_without_an_action_space_is_looked_for_in_all(make_env: MakeEnv) -> None:
    env: Any = make_env()
    env.apply(CompilerEnvState("fake-v0/7", "add end"))  # "end" is no action of "Safe"
    assert (env.action_space.name, env.actions) == ("Behaviours", [0, ACTIONS["end"]])
    env.reset(action_space="Safe")
    menu = CompilerEnvState("fake-v0/7", "[3]")  # what "Menu" writes, and no name
    env.apply(menu)
    assert (env.action_space.name, env.actions) == ("Menu", [3])
    for name, error in (("Safe", UnknownNameError), ("Composite", InvalidActionError)):
        env.reset(action_space=name)
        with pytest.raises(error, match="mem2reg"):
            env.apply(CompilerEnvState("fake-v0/7", "mem2reg"))
        assert env.action_space.name == name


def test_a_state_of_another_compiler_is_replayed_with_a_warning(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number")
    env.reset()
    env.step(0)
    with pytest.warns(StateVersionWarning, match="recorded with version fake 0 of the compiler"):
        env.apply(replace(env.state, compiler_version="fake 0"))
    assert env.actions == [0]


def test_a_state_that_fails_on_the_way_raises_its_error(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours")
    env.reset()
    state = replace(env.state, commandline="add raise")
    with pytest.raises(SessionError, match="ZeroDivisionError"):
        env.apply(state)


def test_a_fork_has_its_own_generators_that_go_on_as_these(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset(seed=5)
    draws: list[Callable[[FakeEnv], Any]] = [
        lambda each: int(each.np_random.integers(1000)),
        lambda each: str(each.datasets.random_benchmark()),
        lambda each: int(each.action_space.sample()),
    ]
    for duplicate, count in (
        (FakeEnv.fork, 3),
        (copy.deepcopy, 3),
        (
            stand_in(lambda env: pickle.loads(pickle.dumps(env))),
            2,
        ),  # it makes its action spaces anew
    ):
        with duplicate(env) as twin:
            assert twin.np_random_seed == env.np_random_seed == 5
            for draw in draws[:count]:
                drawn = [draw(twin) for _ in range(4)]
                assert drawn == [draw(env) for _ in range(4)]
    with pytest.raises(TypeError, match=r"use copy.deepcopy\(\) or fork\(\)"):
        copy.copy(env)


def test_state_of_a_plug_in_is_in_a_fork_and_not_in_a_pickle(make_env: MakeEnv) -> None:
    env: Any = make_env()
    env.tag = ["mine"]
    with env.fork() as fork, pickle.loads(pickle.dumps(env)) as far:
        assert fork.tag is env.tag
        assert not hasattr(far, "tag")


def test_an_environment_is_rendered_as_text(
    make_env: MakeEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    env = make_env()
    env.reset()
    env.step(0)
    assert env.render("ansi") == "benchmark://fake-v0/7 after 1 actions\n8"
    assert env.render() is None
    assert capsys.readouterr().out == "benchmark://fake-v0/7 after 1 actions\n8\n"
    with pytest.raises(
        InvalidParameterError, match="render mode must be human, ansi, diff or ansi_diff"
    ):
        env.render("rgb")
    with pytest.raises(UnknownNameError, match="FakeEnv has no validator"):
        env.validate()


def test_an_option_of_reset_that_nothing_reads_is_not_ignored_silently(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with FakeEnv() as env:
        with pytest.raises(InvalidParameterError, match="did you mean benchmark"):
            env.reset(options={"bench": "fake-v0/1"})
        with caplog.at_level(logging.WARNING, logger="compiler_gym"):
            env.reset(options={"unread_by_all": 3})
    assert "reset() ignores the option 'unread_by_all'" in caplog.text
