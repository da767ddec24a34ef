# SPDX-License-Identifier: MIT
"""Episodes end in time and in their best state, steps are undone, and calls are counted."""

import os
import signal
from typing import Any

import numpy as np
import pytest

from compiler_gym.errors import InvalidActionError, InvalidParameterError
from compiler_gym.testing import FakeEnv, is_running, same, wait_until, worker_pid
from compiler_gym.wrappers import (
    ActionHistory,
    ConstrainedCommandline,
    Counter,
    ForkOnStep,
    MacroActions,
    NeverWorse,
    NoEffectPenalty,
    StepBudget,
    TimeLimit,
)


def test_an_episode_is_truncated_at_its_limit(env: FakeEnv) -> None:
    limited = TimeLimit(env, max_episode_steps=2)
    for _ in range(2):
        limited.reset()
        assert limited.step(0)[2:4] == (False, False)
        *_, terminated, truncated, info = limited.step(0)
        assert (terminated, truncated) == (False, True)
        assert info["TimeLimit.truncated"] is True


def test_several_actions_count_each(env: FakeEnv) -> None:
    limited = TimeLimit(env, 3)
    limited.reset()
    assert not limited.multistep([0, 0])[3]
    assert not limited.multistep([])[3]
    assert limited.multistep([0])[3]


def test_a_natural_end_at_the_limit_is_both(make_env: Any) -> None:
    limited = TimeLimit(make_env(action_space="Behaviours"), 1)
    limited.reset()
    *_, terminated, truncated, info = limited.step(limited.action_space["end"])
    assert (terminated, truncated) == (True, True)  # as Gymnasium's own
    assert info["TimeLimit.truncated"] is False


def test_the_limit_of_the_spec_is_the_default(env: FakeEnv) -> None:
    class Spec:
        max_episode_steps = 7

    env.spec = Spec()  # type: ignore[assignment]  # all that is looked at
    assert TimeLimit(env).max_episode_steps == 7


@pytest.mark.parametrize("limit", [None, 0, -1, 1.5])
def test_a_limit_that_is_none_is_refused(env: FakeEnv, limit: Any) -> None:
    with pytest.raises(InvalidParameterError, match="max_episode_steps must be at least 1"):
        TimeLimit(env, limit)


ADD, DOUBLE, NEGATE, NOTHING = range(4)


def test_the_end_goes_back_to_the_best_state(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 4))
    safe.reset(benchmark="fake-v0/7")
    rewards = [safe.step(action)[1] for action in (ADD, DOUBLE, NEGATE)]
    assert rewards == [-1, -8, 32]
    observation, reward, terminated, truncated, info = safe.step(ADD)
    assert (terminated, truncated) == (False, True)
    assert np.array_equal(observation, [-16, 256, -1])
    assert reward == 0
    assert safe.actions == [ADD, DOUBLE, NEGATE]
    assert info["never_worse"] == 3
    assert safe.episode_reward == 23


def test_an_end_that_is_the_best_stays(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 2))
    safe.reset(benchmark="fake-v0/7")
    safe.step(ADD)
    *_, info = safe.step(NEGATE)
    assert "never_worse" not in info
    assert safe.actions == [ADD, NEGATE]


def test_an_episode_that_only_loses_ends_where_it_began(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 2))
    safe.reset(benchmark="fake-v0/7")
    rewards = [safe.step(ADD)[1] for _ in range(2)]
    assert sum(rewards) == 0
    assert safe.actions == []
    assert safe.observation["number"] == 7


def test_a_failure_ends_in_the_best_state_too(make_env: Any) -> None:
    safe = NeverWorse(make_env(action_space="Behaviours"))
    safe.reset(benchmark="fake-v0/7")
    safe.step(NEGATE)
    observation, reward, _, truncated, info = safe.step(safe.action_space["segfault"])
    assert truncated
    assert info["error_type"] == "WorkerCrashedError"
    assert observation[0] == -7
    assert safe.episode_reward == 14
    assert reward == 0
    safe.reset(benchmark="fake-v0/7")
    assert safe.step(NEGATE)[1] == 14


def test_the_baseline_is_a_floor(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 2), baseline=[DOUBLE, NEGATE])
    safe.reset(benchmark="fake-v0/7")
    assert safe.actions == []
    assert safe.step(NEGATE)[1] == 14
    observation, reward, *_ = safe.step(ADD)
    assert observation[0] == -14
    assert reward == 7
    assert safe.actions == [DOUBLE, NEGATE]
    useless = NeverWorse(TimeLimit(env, 1), baseline=[ADD])
    useless.reset(benchmark="fake-v0/7")
    assert useless.step(NOTHING)[0][0] == 7


def test_a_fork_has_its_own_best_state(env: FakeEnv) -> None:
    safe = NeverWorse(TimeLimit(env, 3))
    safe.reset(benchmark="fake-v0/7")
    safe.step(DOUBLE)
    with safe.fork() as fork:
        fork.step(NEGATE)
        assert fork.step(ADD)[0][0] == -14
    safe.step(ADD)
    assert safe.step(ADD)[0][0] == 7


def test_it_needs_one_reward(make_env: Any) -> None:
    with pytest.raises(InvalidParameterError, match="set a reward space"):
        NeverWorse(make_env(reward_space=None)).reset()
    safe = NeverWorse(make_env())
    safe.reset()
    with pytest.raises(InvalidParameterError, match="one reward"):
        safe.step(ADD, reward_spaces="number")


def test_the_best_state_leaves_no_process_behind(env: FakeEnv) -> None:
    safe = NeverWorse(env)
    safe.reset()
    safe.step(NEGATE)
    both: list[Any] = [env, safe._best.env]  # pyright: ignore[reportPrivateUsage]  # no public name tells
    workers = [worker_pid(e) for e in both]
    assert None not in workers
    safe.close()
    assert wait_until(lambda: not any(is_running(pid) for pid in workers if pid))


def test_steps_that_were_undone_do_not_count(env: FakeEnv) -> None:
    best = NeverWorse(TimeLimit(ForkOnStep(env), 4))
    best.reset(benchmark="fake-v0/1")
    for _ in range(3):
        best.step(0)
        best.undo()
    *_, truncated, info = best.step(2)
    assert (best.actions, truncated, "never_worse" in info) == ([2], False, False)
    assert best.episode_reward == 2.0


def test_a_baseline_may_be_names(env: FakeEnv) -> None:
    best = NeverWorse(TimeLimit(env, 1), ["negate"])
    best.reset(benchmark="fake-v0/7")
    assert best.step(0)[4]["never_worse"] == 1
    assert best.actions == [2]


def test_actions_that_are_not_offered_may_be_the_best(env: FakeEnv) -> None:
    few = ConstrainedCommandline(MacroActions(env, {"m": [2, 3], "k": [3]}), ["m", "k"])
    best = NeverWorse(TimeLimit(few, 3))
    best.reset(benchmark="fake-v0/7")
    for action in (0, 1, 0):
        *_, truncated, info = best.step(action)
    assert truncated
    assert info["never_worse"] == 2


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


def test_undo_leaves_no_process_behind(env: FakeEnv) -> None:
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


def test_every_kind_of_call_is_counted(env: FakeEnv) -> None:
    counted = Counter(env)
    assert counted.counters == {"close": 0, "reset": 0, "step": 0, "fork": 0}
    counted.reset()
    counted.step(0)
    counted.multistep([0, 1])
    with counted.fork() as fork:
        fork.step(0)
        assert fork.counters == {"close": 0, "reset": 1, "step": 4, "fork": 1}
    counted.close()
    assert counted.counters == {"close": 1, "reset": 1, "step": 3, "fork": 1}
