# SPDX-License-Identifier: MIT
"""Steps are taken back exactly, and no process stays behind."""

import os
import signal
from typing import Any

import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym.testing import FakeEnv, is_running, same, wait_until, worker_pid
from compiler_gym.wrappers import (
    ActionHistory,
    ForkOnStep,
    NoEffectPenalty,
    StepBudget,
    TimeLimit,
)


def test_undo_goes_back_one_step_at_a_time(env: FakeEnv) -> None:
    undoing = ForkOnStep(env)
    undoing.reset(benchmark="fake-v0/7")
    undoing.step(0)
    undoing.multistep([1, 2])
    assert undoing.observation["number"] == -16
    assert undoing.undo() is undoing
    assert undoing.observation["number"] == 8
    assert undoing.actions == [0]
    assert undoing.episode_reward == -1
    undoing.undo()
    undoing.undo()
    assert undoing.observation["number"] == 7
    assert undoing.stack == []


def test_a_crash_can_be_undone(make_env: Any) -> None:
    undoing = ForkOnStep(make_env(action_space="Behaviours"))
    undoing.reset(benchmark="fake-v0/7")
    assert undoing.step(undoing.action_space["segfault"])[3]
    undoing.undo()
    assert undoing.in_episode
    assert undoing.observation["number"] == 7


def test_looking_and_refused_actions_are_not_steps(env: FakeEnv) -> None:
    undoing = ForkOnStep(env)
    undoing.reset()
    undoing.multistep([])
    with pytest.raises(InvalidActionError, match="not an action"):
        undoing.step(99)
    assert undoing.stack == []


def test_a_fork_can_undo_what_was_done_before_it(env: FakeEnv) -> None:
    undoing = ForkOnStep(TimeLimit(env, 9))
    undoing.reset(benchmark="fake-v0/7")
    undoing.step(0)
    with undoing.fork() as fork:
        fork.undo()
        assert fork.observation["number"] == 7
        assert fork.elapsed_steps == 0
    assert undoing.observation["number"] == 8
    undoing.undo()
    assert undoing.elapsed_steps == 0


def test_an_undone_step_leaves_no_process(env: FakeEnv) -> None:
    undoing = ForkOnStep(env)
    undoing.reset()
    undoing.step(0)
    undone = worker_pid(undoing.unwrapped)
    assert undone is not None
    undoing.undo()
    assert wait_until(lambda: not is_running(undone))
    undoing.close()


def test_no_process_stays_behind(env: FakeEnv) -> None:
    undoing = ForkOnStep(env)
    undoing.reset()
    for _ in range(3):
        undoing.step(0)
    every: list[Any] = [*undoing.stack, undoing.unwrapped]
    workers = [worker_pid(e) for e in every]
    assert len({pid for pid in workers if pid}) == 4
    undoing.close()
    assert wait_until(lambda: not any(is_running(pid) for pid in workers if pid))


def test_a_step_before_which_the_worker_was_lost_can_be_undone(env: FakeEnv) -> None:
    undoing = ForkOnStep(env)
    undoing.reset(benchmark="fake-v0/7")
    undoing.step(0)
    undoing.step(1)
    worker = worker_pid(undoing.unwrapped)
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    assert wait_until(lambda: not is_running(worker))
    assert undoing.step(0)[3]
    undoing.undo()
    assert undoing.actions == [0, 1]
    assert undoing.observation["number"] == 16
    undoing.undo()
    assert undoing.actions == [0]


def test_outer_wrappers_are_undone_too(env: FakeEnv) -> None:
    outer = StepBudget(ActionHistory(NoEffectPenalty(TimeLimit(ForkOnStep(env), 4), 1.0), 2))
    outer.reset(benchmark="fake-v0/7")
    outer.step(0)
    first = outer.step(3)
    assert outer.undo() is outer
    assert (outer.elapsed_steps, outer.episode_reward, outer.actions) == (1, -1.0, [0])
    assert same(outer.step(3), first)
    outer.undo()
    outer.undo()
    outer.undo()
    assert (outer.elapsed_steps, outer.episode_reward, outer.actions) == (0, 0.0, [])


def test_a_replay_has_nothing_to_undo(env: FakeEnv) -> None:
    outer = TimeLimit(ForkOnStep(env), 9)
    outer.reset(benchmark="fake-v0/7")
    outer.step(0)
    state = outer.state
    outer.step(1)
    outer.apply(state)
    outer.undo()
    assert (outer.elapsed_steps, outer.actions) == (1, [0])


def test_there_is_no_way_back_without_forks(env: FakeEnv) -> None:
    assert not hasattr(TimeLimit(env, 9), "undo")
