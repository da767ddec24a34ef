# SPDX-License-Identifier: MIT
"""A wrapper is an environment: every name, every copy, every kind of wrapper below."""

import copy
import pickle
from dataclasses import replace
from typing import Any, cast

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import compiler_gym
from compiler_gym.core import (
    CompilerEnv,
    CompilerEnvState,
    ResetArguments,
    ResetResult,
    StepArguments,
    StepTuple,
)
from compiler_gym.errors import InvalidActionError, InvalidParameterError
from compiler_gym.service import Limits
from compiler_gym.testing import FakeEnv, same
from compiler_gym.wrappers import (
    ActionHistory,
    CompilerEnvWrapper,
    Counter,
    CycleOverBenchmarks,
    ForkOnStep,
    LogCounts,
    NoEffectPenalty,
    StepBudget,
    TimeLimit,
)

ADD, DOUBLE, NEGATE, NOTHING = range(4)


def public_names(cls: type) -> set[str]:
    return {
        name
        for base in cls.__mro__
        if base.__module__.startswith("compiler_gym")
        for name, value in vars(base).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, property))
    }


CALLS: dict[str, tuple[Any, ...]] = {
    "actions_from": (CompilerEnvState("benchmark://fake-v0/7", "add double"),),
    "actions_of": (CompilerEnvState("benchmark://fake-v0/7", "add double"),),
    "apply": (CompilerEnvState("benchmark://fake-v0/7", "add double"),),
    "commandline": (),
    "commandline_to_actions": ("add nothing",),
    "multistep": ([ADD, DOUBLE],),
    "render": ("ansi",),
    "send_param": ("fake.echo", "hello"),
    "send_params": (("fake.echo", "hello"),),
    "step": (DOUBLE,),
    "validate": (),
}
"""What each method is called with. What it returns is the same around the environment."""
TESTED_BY_THEMSELVES = {"begin_reset", "close", "fork", "reset"}
ITS_OWN = {"episode_walltime", "state"}
"""Times of each environment."""


def result_of(env: Any, name: str) -> Any:
    value = getattr(env, name)
    if name not in CALLS:
        return None if name in ITS_OWN else value
    return value(*CALLS[name])


@pytest.mark.parametrize("name", sorted(public_names(CompilerEnv) - TESTED_BY_THEMSELVES))
def test_every_public_name_of_an_environment_is_handed_on(make_env: Any, name: str) -> None:
    class Valid(FakeEnv):
        def validate(self, state: Any = None) -> Any:
            return "valid"

    def begun() -> FakeEnv:
        env = Valid(observation_space="vector", reward_space="number")
        env.reset(seed=1, benchmark="benchmark://fake-v0/7")
        env.step(ADD)
        return env

    stack: Any = gymnasium.wrappers.TransformReward(CompilerEnvWrapper(begun()), float)
    with begun() as plain, CompilerEnvWrapper(stack) as wrapped:
        found, expected = result_of(wrapped, name), result_of(plain, name)
        if name in CALLS or isinstance(expected, (int, float, str, list, tuple, type(None))):
            assert same(found, expected)
        else:
            assert type(found) is type(expected)
        if name not in CALLS:
            below = result_of(wrapped.unwrapped, name)
            assert found is below or found == below
        assert same(wrapped.actions, plain.actions)


def test_a_reset_of_a_wrapper_cannot_be_begun(env: FakeEnv) -> None:
    with pytest.raises(InvalidParameterError, match=r"reset\(\)"):
        CompilerEnvWrapper(env).begin_reset(ResetArguments())


def test_a_wrapper_is_an_environment_of_both_kinds(env: FakeEnv) -> None:
    wrapped = CompilerEnvWrapper(env)
    assert isinstance(wrapped, CompilerEnv)
    assert isinstance(wrapped, gymnasium.Wrapper)
    assert wrapped.unwrapped is env


def test_a_wrapper_changes_nothing_by_itself(make_env: Any) -> None:
    plain, wrapped = make_env(), CompilerEnvWrapper(make_env())
    for one in (plain, wrapped):
        one.reset(seed=3, benchmark="benchmark://fake-v0/5")
    for actions in ([ADD], [DOUBLE, NEGATE], []):
        left, right = plain.multistep(actions), wrapped.multistep(actions)
        assert np.array_equal(left[0], right[0])
        assert left[1:] == right[1:]
    for name in ("actions", "episode_reward", "in_episode", "compiler_version", "version"):
        assert getattr(wrapped, name) == getattr(plain, name)
    assert wrapped.state == plain.state
    assert wrapped.commandline() == plain.commandline()
    assert wrapped.action_space == plain.action_space
    assert wrapped.observation_space == plain.observation_space
    assert wrapped.reward_space == plain.reward_space
    assert wrapped.reward_range == plain.reward_range
    assert wrapped.observation["number"] == plain.observation["number"]
    assert wrapped.send_params(("fake.echo", "hello")) == ["hello"]
    assert wrapped.commandline_to_actions("add nothing") == [ADD, NOTHING]


def test_settings_on_a_wrapper_reach_the_environment(env: FakeEnv) -> None:
    wrapped = TimeLimit(CompilerEnvWrapper(env), 9)
    wrapped.observation_space = "number"
    wrapped.reward_space = None
    wrapped.action_space = "Behaviours"
    wrapped.benchmark = "benchmark://fake-v0/4"
    assert env.observation_space == wrapped.observation_space
    assert env.reward_space is None
    assert "segfault" in wrapped.action_space.names  # type: ignore[attr-defined]  # a space now
    assert wrapped.reset()[0] == 4
    assert str(wrapped.benchmark) == "benchmark://fake-v0/4"


def test_limits_that_are_set_on_a_wrapper_are_those_of_the_environment(env: FakeEnv) -> None:
    limits = Limits(step_seconds=7.0)
    TimeLimit(gymnasium.wrappers.TransformReward(Counter(env), float), 3).limits = limits
    assert env.limits == limits


def test_a_property_of_the_compilers_own_environment_can_be_set_through_a_wrapper() -> None:
    class Tunable(FakeEnv):
        _level = 0

        @property
        def level(self) -> int:
            return self._level

        @level.setter
        def level(self, value: int) -> None:
            self._level = value

    with TimeLimit(Counter(Tunable()), 3) as wrapped:
        wrapped.level = 7
        assert cast(Any, wrapped.unwrapped).level == 7
        assert wrapped.level == 7


def test_an_unknown_name_is_an_attribute_error(env: FakeEnv) -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = TimeLimit(env, 3).no_such_name


def test_a_wrapper_of_gymnasium_may_stand_anywhere(env: FakeEnv) -> None:
    inner = gymnasium.wrappers.TransformReward(Counter(env), lambda reward: 10 * float(reward))
    stack = TimeLimit(ForkOnStep(inner), 4)
    stack.reset(benchmark="benchmark://fake-v0/7")
    assert stack.step(ADD)[1] == -10
    assert stack.multistep([ADD, ADD])[1] == -20
    with stack.fork() as fork:
        assert fork.step(ADD)[3]
        assert fork.counters["step"] == 4
        assert cast(Any, fork.env).env.func is inner.func
    assert stack.undo().actions == [ADD]
    assert np.array_equal(stack.multistep([])[0], [8, 64, 1])


def test_a_wrapper_of_gymnasium_takes_no_spaces_for_a_step(env: FakeEnv) -> None:
    stack = CompilerEnvWrapper(gymnasium.wrappers.TransformReward(env, lambda reward: reward))
    stack.reset()
    with pytest.raises(InvalidParameterError, match="is a Gymnasium wrapper"):
        stack.step(ADD, ["number"])


def test_a_fork_of_a_stack_goes_its_own_way(env: FakeEnv) -> None:
    stack = StepBudget(TimeLimit(CycleOverBenchmarks(env, ["fake-v0/1", "fake-v0/2"]), 3))
    stack.reset()
    stack.step(ADD)
    with stack.fork() as fork:
        assert type(fork) is StepBudget
        fork.step(DOUBLE)
        assert fork.step(DOUBLE)[3]
        fork.reset()
        assert str(fork.benchmark) == "benchmark://fake-v0/2"
    assert stack.actions == [ADD]
    assert stack.elapsed_steps == 1
    stack.reset()
    assert str(stack.benchmark) == "benchmark://fake-v0/2"


def test_a_deep_copy_is_a_fork_and_a_shallow_one_is_refused(env: FakeEnv) -> None:
    stack = TimeLimit(env, 3)
    stack.reset()
    stack.step(ADD)
    with copy.deepcopy(stack) as twin:
        assert twin.actions == [ADD]
        assert twin.elapsed_steps == 1
    with pytest.raises(TypeError, match="fork"):
        copy.copy(stack)


def test_a_pickle_of_a_stack_replays_the_episode(env: FakeEnv) -> None:
    stack = StepBudget(TimeLimit(CycleOverBenchmarks(env, ["fake-v0/1", "fake-v0/2"]), 4))
    stack.reset()
    stack.step(ADD)
    with pickle.loads(pickle.dumps(stack)) as twin:
        assert twin.actions == [ADD]
        assert twin.elapsed_steps == 1
        assert twin.step(DOUBLE)[0]["steps_left"] == pytest.approx(0.5)
        twin.reset()
        assert str(twin.benchmark) == "benchmark://fake-v0/2"


def test_a_spec_makes_the_same_stack_again() -> None:
    base = compiler_gym.make("llvm-autophase-ic-v0")
    with StepBudget(TimeLimit(base, max_episode_steps=5)) as stack:
        assert stack.spec is not None
        twin = gymnasium.make(stack.spec)
        with twin:
            assert type(twin) is StepBudget
            assert twin.get_wrapper_attr("max_episode_steps") == 5
            assert twin.observation_space == stack.observation_space


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version:UserWarning")
def test_gymnasium_finds_nothing_to_complain_about() -> None:
    base = compiler_gym.make("llvm-autophase-ic-v0", benchmark="cbench-v1/crc32")
    with StepBudget(TimeLimit(LogCounts(base), 5)) as stack:
        check_env(stack)


def test_an_action_outside_the_space_is_refused(env: FakeEnv) -> None:
    stack = TimeLimit(env, 3)
    stack.reset()
    with pytest.raises(InvalidActionError, match="not an action"):
        stack.step(99)
    assert stack.elapsed_steps == 0


def test_a_crash_ends_an_episode_and_the_next_reset_works(make_env: Any) -> None:
    stack = StepBudget(TimeLimit(make_env(action_space="Behaviours"), 5))
    stack.reset()
    observation, _, terminated, truncated, info = stack.step(stack.action_space["segfault"])
    assert (terminated, truncated) == (False, True)
    assert info["error_type"] == "WorkerCrashedError"
    assert stack.observation_space.contains(observation)
    assert stack.reset()[0]["steps_left"] == 1.0


def test_apply_brings_wrappers_up_to_date(make_env: Any) -> None:
    source = make_env()
    source.reset()
    source.multistep([ADD, DOUBLE])
    stack = StepBudget(TimeLimit(make_env(), 4))
    stack.apply(source.state)
    assert stack.elapsed_steps == 2
    assert stack.step(ADD)[0]["steps_left"] == pytest.approx(0.25)


class Tenfold(CompilerEnvWrapper):
    """Changes single steps only, as wrappers of CompilerGym 0.2.5 did."""

    def step(self, action: Any, *spaces: Any, **options: Any) -> Any:
        seen, reward, *rest = super().step(action, *spaces, **options)
        return seen, 10 * reward, *rest


def test_wrappers_that_change_single_steps_are_not_bypassed(env: FakeEnv) -> None:
    limited = TimeLimit(Tenfold(env), 9)
    limited.reset(benchmark="fake-v0/7")
    assert limited.step(0)[1] == -10
    observation, reward, *_, info = limited.multistep([0, 3, 0])
    assert (reward, info["action_had_no_effect"]) == (-20, False)
    assert same(limited.multistep([])[0], observation)
    assert limited.step(0, observation_spaces=["number"], timeout=5.0)[0] == [11]


def test_several_steps_through_a_wrapper_of_gymnasium_say_what_all_of_them_did(
    env: FakeEnv,
) -> None:
    outer = NoEffectPenalty(gymnasium.wrappers.TransformReward(env, lambda reward: reward), 5.0)
    outer.reset(benchmark="fake-v0/7")
    assert outer.multistep([0, 3])[1] == -1
    assert outer.multistep([3, 3])[1] == -5


def test_render_reaches_the_environment_through_a_wrapper_of_gymnasium(env: FakeEnv) -> None:
    outer = CompilerEnvWrapper(gymnasium.wrappers.TransformReward(env, lambda reward: reward))
    outer.reset(benchmark="fake-v0/7")
    assert outer.render("ansi") == env.render("ansi")


def test_make_says_that_it_puts_no_limit_around() -> None:
    with pytest.raises(InvalidParameterError, match="TimeLimit"):
        compiler_gym.make("llvm-v0", max_episode_steps=3)


def test_a_space_that_was_seeded_stays_so(env: FakeEnv) -> None:
    history = StepBudget(ActionHistory(env), 9)
    samples: list[Any] = []
    for _ in range(2):
        history.observation_space.seed(0)
        samples.append(history.observation_space.sample())
    assert same(*samples)


class Doubled(CompilerEnvWrapper):
    """Changes what is asked for and what comes of it, in the hooks alone."""

    def __init__(self, env: Any, name: str, log: list[str]) -> None:
        super().__init__(env)
        self._name = name
        self._log = log

    def handle_reset(self, asked: ResetArguments) -> ResetResult:
        self._log.append(f"{self._name} resets {asked.benchmark}")
        return super().handle_reset(replace(asked, benchmark="benchmark://fake-v0/9"))

    def handle_step(self, asked: StepArguments) -> StepTuple:
        self._log.append(f"{self._name} {asked.actions}")
        result = super().handle_step(replace(asked, actions=asked.actions * 2))
        self._log.append(f"{self._name} earns {result[1]}")
        return result


def test_a_hook_gets_the_request_and_changes_it(env: FakeEnv) -> None:
    log: list[str] = []
    doubled = Doubled(env, "it", log)
    assert np.array_equal(doubled.reset(benchmark="benchmark://fake-v0/1")[0], [9, 81, 1])
    assert doubled.step(ADD)[1] == -2
    assert doubled.multistep([ADD, NOTHING], timeout=9.0)[1] == -2
    assert doubled.actions == [ADD, ADD, ADD, NOTHING, ADD, NOTHING]
    assert log == [
        "it resets benchmark://fake-v0/1",
        *("it [0]", "it earns -2.0"),
        *("it [0, 3]", "it earns -2.0"),
    ]


def test_hooks_are_called_from_the_outside_in(env: FakeEnv) -> None:
    log: list[str] = []
    stack = Doubled(Doubled(env, "inner", log), "outer", log)
    stack.reset()
    stack.step(ADD)
    assert log == [
        "outer resets None",
        "inner resets benchmark://fake-v0/9",
        *("outer [0]", "inner [0, 0]", "inner earns -4.0", "outer earns -4.0"),
    ]


class Older(CompilerEnvWrapper):
    """Overrides the methods, as wrappers did before there were hooks."""

    def reset(self, *args: Any, **arguments: Any) -> Any:
        observation, info = super().reset(*args, **arguments)
        return observation, {**info, "older": sorted(arguments)}

    def multistep(  # type: ignore[override]  # it takes less
        self, actions: Any, *spaces: Any, timeout: float | None = None
    ) -> Any:
        seen, reward, *rest = super().multistep(actions, *spaces, timeout=timeout)
        return seen, reward if reward is None else 10 * reward, *rest


def test_methods_that_are_overridden_work_above_and_below_a_hook(env: FakeEnv) -> None:
    log: list[str] = []
    stack = Older(Doubled(Older(env), "it", log))
    _, info = stack.reset(seed=3, options={"benchmark": "benchmark://fake-v0/7"})
    assert info["older"] == ["options", "seed"]
    assert stack.step(ADD)[1] == -200
    assert stack.multistep([ADD], ["number"], timeout=9.0)[0] == [11]
    assert log[1:] == ["it [0]", "it earns -20.0", "it [0]", "it earns -20.0"]


class Choosy(CompilerEnvWrapper):
    """Takes an argument that no other environment knows."""

    def reset(self, *, level: int = 0, **arguments: Any) -> Any:
        observation, info = super().reset(**arguments)
        return observation, {**info, "level": level}


def test_arguments_that_only_a_wrapper_below_knows_reach_it(env: FakeEnv) -> None:
    assert TimeLimit(Choosy(env), 3).reset(level=7)[1]["level"] == 7
    with pytest.raises(TypeError, match="level"):
        TimeLimit(env, 3).reset(level=7)
