# SPDX-License-Identifier: MIT
"""One step of many episodes gives exactly what a step of each gives."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler_gym.core import CompilerEnv, Lockstep, StepTuple
from compiler_gym.service import exchange
from compiler_gym.spaces import Reward
from compiler_gym.testing import FakeEnv, is_running, same, wait_until, worker_pid
from compiler_gym.testing.behaviours import BEHAVIOURS

ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}
ROWS = 3
CALM = ("add", "double", "negate", "nothing")
WORSE = ("end", "raise", "fatal", "exit", "segfault", "turn_unplain", "overflow")


def fake(number: int, **arguments: Any) -> FakeEnv:
    chosen: dict[str, Any] = {
        "observation_space": "packed",
        "reward_space": "number",
        "action_space": "Behaviours",
        "benchmark": f"benchmark://fake-v0/{number}",
    }
    env = FakeEnv(**{**chosen, **arguments})
    env.reset()
    return env


def array() -> np.ndarray[Any, Any]:
    return np.full((ROWS, 3), -99, dtype=np.int64)


def stepped(
    lockstep: Lockstep, envs: list[FakeEnv], actions: list[int]
) -> tuple[list[StepTuple], bool]:
    """Return the results of one step, and whether it was made together."""
    channels = lockstep.begin(actions)
    if channels is None:
        return [env.step(action) for env, action in zip(envs, actions, strict=True)], False
    exchange(channels)
    rewards, failures = np.full(ROWS, np.nan), dict[int, Exception]()
    others = lockstep.end(rewards, failures)
    assert not failures
    results = {**lockstep.results(rewards), **others}
    return [results[number] for number in range(ROWS)], True


def comparable(result: StepTuple) -> Any:
    seen, reward, terminated, truncated, info = result
    error = info.get("error")
    said: dict[str, Any] = {**info, "error": (type(error), getattr(error, "reproducer", None))}
    return seen.tolist(), reward, terminated, truncated, {**said, "error_details": None}


@given(
    st.lists(
        st.lists(
            st.sampled_from(CALM) | st.sampled_from(CALM + WORSE), min_size=ROWS, max_size=ROWS
        ),
        max_size=8,
    )
)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_step_together_is_one_of_each(walk: list[list[str]]) -> None:
    with ExitStack() as stack:
        ours, theirs = (
            [stack.enter_context(fake(number)) for number in range(2, 2 + ROWS)] for _ in range(2)
        )
        lockstep = Lockstep([env.episode for env in ours], array())
        was_changed = True  # what the episodes ask for is yet to be taken over
        for names in walk:
            actions = [ACTIONS[name] for name in names]
            results, is_together = stepped(lockstep, ours, actions)
            wanted = [env.step(action) for env, action in zip(theirs, actions, strict=True)]
            assert list(map(comparable, results)) == list(map(comparable, wanted))
            for mine, other in zip(ours, theirs, strict=True):
                assert (mine.actions, mine.episode_reward) == (other.actions, other.episode_reward)
                assert mine.in_episode == other.in_episode
            assert is_together or was_changed
            was_changed = not all(env.in_episode for env in ours)
            for env in (*ours, *theirs):
                if not env.in_episode:
                    env.reset()


@pytest.fixture
def envs() -> Iterator[list[FakeEnv]]:
    with ExitStack() as stack:
        yield [stack.enter_context(fake(number)) for number in range(2, 2 + ROWS)]


@pytest.fixture
def lockstep(envs: list[FakeEnv]) -> Lockstep:
    """Give one that has taken over what the episodes ask for."""
    made = Lockstep([env.episode for env in envs], array())
    assert made.begin([0] * ROWS) is None, "the first step is by each itself"
    return made


def test_the_second_step_is_together(envs: list[FakeEnv], lockstep: Lockstep) -> None:
    results, is_together = stepped(lockstep, envs, [0, 1, 3])
    assert is_together
    assert [result[0].tolist() for result in results] == [[3, 9, 1], [6, 36, 1], [4, 16, 1]]
    assert [result[1] for result in results] == [-1.0, -3.0, 0.0]
    assert [result[4]["action_had_no_effect"] for result in results] == [False, False, True]
    assert lockstep.no_effects.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "actions",
    [
        (0, 0, 0),
        [0, 0],
        [0, 0, 0, 0],
        [0, 0, np.int64(0)],
        [0, 0, True],
        [0, 0, 0.0],
        [0, 0, -1],
        [0, 0, len(BEHAVIOURS)],
        [0, None, 0],
        np.zeros(3, dtype=np.int64),
        None,
    ],
)
def test_what_is_no_list_of_numbers_is_left_to_each(
    envs: list[FakeEnv], lockstep: Lockstep, actions: Any
) -> None:
    assert lockstep.begin(actions) is None
    assert [env.actions for env in envs] == [[]] * ROWS
    assert stepped(lockstep, envs, [0] * ROWS)[1]
    assert [env.actions for env in envs] == [[0]] * ROWS


class Doubled(Reward):
    """Twice the number."""

    def __init__(self) -> None:
        super().__init__("doubled", observation_spaces=["number"])
        self.error: Exception | None = None

    def update(self, actions: Any, observations: Any, observation_view: Any) -> float:
        if self.error is not None:
            raise self.error
        return 2.0 * observations[0]


def observe_number(env: CompilerEnv) -> None:
    env.observation_space = "number"


def observe_several(env: CompilerEnv) -> None:
    env.observation_space = ["packed"]


def observe_floats(env: CompilerEnv) -> None:
    env.observation_space = "floats"


def earn_nothing(env: CompilerEnv) -> None:
    env.reward_space = None


def earn_from_another(env: CompilerEnv) -> None:
    env.reward_space = Reward("time", observation_spaces=["clock"])


def close(env: CompilerEnv) -> None:
    env.close()


def fail(env: CompilerEnv) -> None:
    env.step(ACTIONS["raise"])


def end(env: CompilerEnv) -> None:
    env.step(ACTIONS["end"])


@pytest.mark.parametrize(
    "change",
    [observe_number, observe_several, observe_floats, earn_nothing, earn_from_another, close, fail,
     end],
)  # fmt: skip
def test_a_row_that_is_not_as_the_others_leaves_each_to_itself(
    envs: list[FakeEnv], lockstep: Lockstep, change: Callable[[CompilerEnv], None]
) -> None:
    change(envs[1])
    before = [env.actions for env in envs]
    for _ in range(3):
        assert lockstep.begin([0] * ROWS) is None
    assert [env.actions for env in envs] == before
    envs[1].observation_space, envs[1].reward_space = "packed", "number"
    envs[1].reset()
    assert lockstep.begin([0] * ROWS) is None, "it takes over what is asked for now"
    assert stepped(lockstep, envs, [0] * ROWS)[1]


def test_a_row_of_another_worker_is_taken_over(envs: list[FakeEnv], lockstep: Lockstep) -> None:
    envs[2].close()
    envs[2].reset()
    assert not stepped(lockstep, envs, [0] * ROWS)[1]
    results, is_together = stepped(lockstep, envs, [0] * ROWS)
    assert is_together
    assert [result[0][0] for result in results] == [4, 5, 6]


def test_sessions_in_this_process_step_by_themselves() -> None:
    with ExitStack() as stack:
        envs = [stack.enter_context(fake(n, isolation="in-process")) for n in range(ROWS)]
        lockstep = Lockstep([env.episode for env in envs], array())
        for _ in range(3):
            assert lockstep.begin([0] * ROWS) is None


def test_an_array_of_another_kind_is_written_by_each(envs: list[FakeEnv]) -> None:
    for other in (np.zeros((ROWS, 3)), np.zeros((ROWS, 2), dtype=np.int64)):
        lockstep = Lockstep([env.episode for env in envs], other)
        for _ in range(3):
            assert lockstep.begin([0] * ROWS) is None


def test_rows_may_earn_what_is_made_of_the_same(envs: list[FakeEnv], lockstep: Lockstep) -> None:
    envs[1].reward_space = Doubled()
    envs[1].reset()
    assert not stepped(lockstep, envs, [0] * ROWS)[1]
    results, is_together = stepped(lockstep, envs, [0] * ROWS)
    assert is_together
    assert [result[1] for result in results] == [-1.0, 10.0, -1.0]
    assert envs[1].episode_reward == 18.0


def test_what_the_users_own_code_raises_is_of_its_row(
    envs: list[FakeEnv], lockstep: Lockstep
) -> None:
    reward = Doubled()
    envs[1].reward_space = reward
    envs[1].reset()
    stepped(lockstep, envs, [0] * ROWS)
    reward.error = ZeroDivisionError("mine")
    channels = lockstep.begin([0] * ROWS)
    assert channels is not None
    exchange(channels)
    rewards, failures = np.full(ROWS, np.nan), dict[int, Exception]()
    assert lockstep.end(rewards, failures) == {}
    assert failures == {1: reward.error}
    assert rewards[[0, 2]].tolist() == [-1.0, -1.0]
    assert np.isnan(rewards[1])
    reward.error = None
    assert stepped(lockstep, envs, [0] * ROWS)[1], "nothing is left unread"


def test_a_worker_killed_in_mid_step_is_of_its_row(envs: list[FakeEnv], lockstep: Lockstep) -> None:
    worker = worker_pid(envs[1])
    assert worker is not None
    channels = lockstep.begin([0, ACTIONS["hang"], 0])
    assert channels is not None
    killer = threading.Timer(0.1, os.kill, (worker, signal.SIGKILL))
    killer.start()
    exchange(channels)
    killer.join()
    others = lockstep.end(np.zeros(ROWS), {})
    assert set(others) == {1}
    *_, truncated, info = others[1]
    assert (truncated, info["error_type"]) == (True, "WorkerCrashedError")
    assert wait_until(lambda: not is_running(worker))
    assert [env.in_episode for env in envs] == [True, False, True]


def test_results_are_the_rows_own(envs: list[FakeEnv], lockstep: Lockstep) -> None:
    first, _ = stepped(lockstep, envs, [0] * ROWS)
    kept = [result[0].copy() for result in first]
    stepped(lockstep, envs, [1] * ROWS)
    assert same([result[0] for result in first], kept)
