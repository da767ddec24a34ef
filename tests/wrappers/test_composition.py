# SPDX-License-Identifier: MIT
"""Random stacks of wrappers: in any order they are an environment, and forks are exact."""

import json
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from compiler_gym.errors import ServiceError
from compiler_gym.spaces import CommandlineFlag
from compiler_gym.testing import FakeEnv, same, worker_pid
from compiler_gym.wrappers import (
    ActionHistory,
    ActionMasks,
    BestSavings,
    CommandlineWithTerminalAction,
    CompilerEnvWrapper,
    ConstrainedCommandline,
    Counter,
    CycleOverBenchmarks,
    EpisodeRecorder,
    ForkOnStep,
    IterateOverBenchmarks,
    MacroActions,
    NeverWorse,
    NoEffectPenalty,
    RandomOrderBenchmarks,
    RelativeSavings,
    RewardWrapper,
    StepBudget,
    SynchronousSqliteLogger,
    TimeLimit,
    ValidateBenchmarkAfterEveryStep,
)
from tests.effort import examples
from tests.stand_ins import stand_in

URIS = [f"benchmark://fake-v0/{number}" for number in range(3, 8)]


class Halved(RewardWrapper):
    def convert_reward(self, reward: Any) -> float:
        return reward / 2


class Valid(FakeEnv):
    """Looks at every program and finds it well."""

    def validate(self, state: Any = None) -> Any:
        assert isinstance(self.observation["number"], int)

        class Fine:
            def okay(self) -> bool:
                return True

        return Fine()


def fork_each_step(env: Any, _: int) -> Any:
    return ForkOnStep(env)


def undo_worse(env: Any, number: int) -> Any:
    return NeverWorse(env, [0] * number)


def few(env: Any, number: int) -> Any:
    return ConstrainedCommandline(env, list(env.action_space.names)[: 2 + number])


def ending(env: Any, number: int) -> Any:
    flag = CommandlineFlag(f"stop{number}", f"stop{number}", "")
    return env if flag.name in env.action_space.names else CommandlineWithTerminalAction(env, flag)


def macro(env: Any, number: int) -> Any:
    name, parts = f"macro{number}", [0, 1, 0]
    return env if name in env.action_space.names else MacroActions(env, {name: parts})


def extra(wrap: Callable[[Any, int], Any]) -> Callable[[Any, int], Any]:
    """Leave out an extra that is there already."""

    def once(env: Any, number: int) -> Any:
        wrapped = wrap(env, number)
        below = env.observation_space
        known = getattr(below, "spaces", {})
        return env if wrapped.key in known else wrapped

    return once


WRAPPERS: list[Callable[[Any, int], Any]] = [
    lambda env, n: CompilerEnvWrapper(env),
    lambda env, n: TimeLimit(env, 3 + n),
    lambda env, n: Counter(env),
    fork_each_step,
    lambda env, n: CycleOverBenchmarks(env, URIS),
    lambda env, n: IterateOverBenchmarks(env, URIS),
    lambda env, n: RandomOrderBenchmarks(env, URIS, np.random.default_rng(n)),
    lambda env, n: NoEffectPenalty(env, n / 4),
    lambda env, n: RelativeSavings(env, "number"),
    lambda env, n: BestSavings(env, "number"),
    lambda env, n: ValidateBenchmarkAfterEveryStep(env),
    undo_worse,
    lambda env, n: ActionMasks(env),
    lambda env, n: Halved(env),
    lambda env, n: EpisodeRecorder(env, Path(tempfile.gettempdir()) / f"{n}.jsonl"),
    lambda env, n: SynchronousSqliteLogger(env, Path(tempfile.gettempdir()) / f"{n}.db"),
    lambda env, n: gymnasium.wrappers.TransformReward(env, lambda reward: 4 * float(reward)),
    few,
    ending,
    macro,
    extra(lambda env, n: ActionHistory(env, 1 + n)),
    extra(lambda env, n: StepBudget(env, 4 + n)),
]

WRAPPERS_BY_NAME = {
    "ForkOnStep": WRAPPERS.index(fork_each_step),
    "NeverWorse": WRAPPERS.index(undo_worse),
}
LAYERS = st.lists(st.tuples(st.integers(0, len(WRAPPERS) - 1), st.integers(0, 3)), max_size=6)


def stack_of(layers: list[tuple[int, int]], folder: str) -> Any:
    tempfile.tempdir = folder
    try:
        env: Any = Valid(observation_space="vector", reward_space="number")
        for which, number in layers:
            env = WRAPPERS[which](
                env if hasattr(env, "multistep") else CompilerEnvWrapper(env), number
            )
        return env if hasattr(env, "multistep") else CompilerEnvWrapper(env)
    finally:
        tempfile.tempdir = None


def walk(env: Any, choices: list[float]) -> list[Any]:
    """Return what came of actions chosen by their place in the space, up to the end."""
    results: list[tuple[Any, ...]] = []
    for choice in choices:
        action = int(choice * int(env.action_space.n))
        seen, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(seen), (seen, env.observation_space)
        assert isinstance(reward, float)
        assert "error" not in info
        results.append((seen, reward, terminated, truncated))
        if terminated or truncated:
            break
    return results


CHOICES = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=5)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list[Any](HealthCheck))
@given(LAYERS, CHOICES, CHOICES)
def test_any_stack_is_an_environment_whose_forks_are_exact(
    layers: list[tuple[int, int]], before: list[float], after: list[float]
) -> None:
    with tempfile.TemporaryDirectory() as folder, stack_of(layers, folder) as env:
        observation, _ = env.reset(seed=3)
        assert env.observation_space.contains(observation)
        walked = walk(env, before)
        with env.fork() as fork:
            assert fork.actions == env.actions
            assert str(fork) == str(env)
            if not any(walked[-1][2:]):
                assert same(walk(fork, after), walk(env, after))
            assert np.isclose(fork.episode_reward, env.episode_reward)
            fork.reset()
            env.reset()
            assert fork.benchmark == env.benchmark
            assert same(walk(fork, before), walk(env, before))
        files = Path(folder).glob("*.jsonl")
        assert all(json.loads(line) for path in files for line in path.read_text().splitlines())


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list[Any](HealthCheck))
@given(LAYERS, CHOICES)
def test_any_stack_does_to_the_program_what_its_actions_say(
    layers: list[tuple[int, int]], choices: list[float]
) -> None:
    with tempfile.TemporaryDirectory() as folder, stack_of(layers, folder) as env:
        env.reset(seed=1)
        walk(env, choices)
        base = env.unwrapped
        with Valid(observation_space="vector", reward_space="number") as plain:
            plain.reset(benchmark=base.benchmark)
            observation, reward, *_ = plain.multistep(base.actions)
            assert same(observation, base.observation["vector"])
            assert reward == base.episode_reward


def looks(env: Any) -> list[Any]:
    """Return what an agent or a report may ask of an environment; masks may have learnt."""
    found = [env.actions, env.episode_reward, env.in_episode, env.state.commandline]
    for name in ("extra", "elapsed_steps", "max_episode_steps"):
        value = getattr(env, name, None)
        found.append(value() if callable(value) else value)
    return found


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list[Any](HealthCheck))
@given(LAYERS, LAYERS, CHOICES, CHOICES, CHOICES)
def test_steps_that_were_undone_leave_no_trace(
    below: list[tuple[int, int]],
    above: list[tuple[int, int]],
    before: list[float],
    undone: list[float],
    after: list[float],
) -> None:
    layers = [*below, (WRAPPERS_BY_NAME["ForkOnStep"], 0), *above]
    layers = [layer for layer in layers if layer[0] != WRAPPERS_BY_NAME["NeverWorse"]]
    with tempfile.TemporaryDirectory() as folder, stack_of(layers, folder) as env:
        env.reset(seed=3)
        if any(walk(env, before)[-1][2:]):
            return
        with env.fork() as fork:
            expected = looks(env)
            depth = env.undoable_steps
            walk(env, undone)
            while env.undoable_steps > depth:  # to end an episode by an action is no step below
                assert env.undo() is env
            assert same(looks(env), expected)
            assert same(walk(fork, after), walk(env, after))


class Killed(CompilerEnvWrapper):
    """Loses its worker after every step that succeeds."""

    def multistep(self, actions: Any, *spaces: Any, **options: Any) -> Any:
        result = super().multistep(actions, *spaces, **options)
        worker = worker_pid(self.unwrapped)
        if worker is not None and self.in_episode:
            os.kill(worker, signal.SIGKILL)
        return result


@pytest.mark.parametrize(
    "wrap",
    [
        ActionMasks,
        ForkOnStep,
        NeverWorse,
        ValidateBenchmarkAfterEveryStep,
        stand_in(lambda env: SynchronousSqliteLogger(env, tempfile.mkdtemp() + "/log.db")),
        stand_in(lambda env: EpisodeRecorder(env, tempfile.mkdtemp() + "/log.jsonl")),
        stand_in(lambda env: ForkOnStep(ActionMasks(ForkOnStep(env)))),
    ],
)
def test_a_worker_that_is_lost_between_two_steps_ends_the_episode_at_the_next(wrap: Any) -> None:
    base = Valid(observation_space="vector", reward_space="number")
    with wrap(Killed(base)) as env:
        for action in (3, 0):
            env.reset(benchmark="benchmark://fake-v0/7")
            assert not env.step(action)[3]
            if hasattr(env, "action_masks"):
                assert env.action_masks().shape == (5,)
            observation, _, _, truncated, info = env.step(0)
            assert truncated
            assert isinstance(info["error"], ServiceError)
            assert env.observation_space.contains(observation)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list[Any](HealthCheck))
@given(LAYERS, CHOICES)
def test_any_stack_survives_a_crash_below(
    layers: list[tuple[int, int]], choices: list[float]
) -> None:
    with tempfile.TemporaryDirectory() as folder, stack_of(layers, folder) as env:
        env.reset(seed=1)
        worker = worker_pid(env.unwrapped)
        assert worker is not None
        os.kill(worker, signal.SIGKILL)
        names = env.action_space.names
        if not names[0].startswith("stop"):
            observation, _, _, truncated, info = env.step(0)
            assert truncated
            assert info["error_type"] == "WorkerCrashedError"
            assert env.observation_space.contains(observation)
        env.reset()
        walk(env, choices)
