# SPDX-License-Identifier: MIT
"""A row begins steps and resets; wrapped environments do it in threads that can be closed."""

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np
import pytest

from compiler_gym.errors import ServiceIsClosed
from compiler_gym.testing import FakeEnv, is_running, wait_until, worker_pid
from compiler_gym.testing.fakes import BEHAVIOURS
from compiler_gym.vector.rows import DirectRow, Rows, ThreadRow
from compiler_gym.wrappers import Counter
from tests.stand_ins import stand_in

ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}
Wrap = Callable[[FakeEnv], Any]
WRAPPERS: list[Wrap] = [
    lambda env: env,
    Counter,
    lambda env: gymnasium.wrappers.TimeLimit(env, 9),
]


@pytest.fixture
def envs() -> Iterator[list[FakeEnv]]:
    made = [
        FakeEnv(observation_space="packed", reward_space="number", action_space="Behaviours")
        for _ in range(2)
    ]
    for env in made:
        env.reset(benchmark="benchmark://fake-v0/7")
    yield made
    for env in made:
        env.close()


@pytest.mark.parametrize(
    ("wrap", "kind"), list(zip(WRAPPERS, (DirectRow, ThreadRow, ThreadRow), strict=True))
)
def test_a_wrapped_environment_is_used_by_a_thread(
    envs: list[FakeEnv], wrap: Wrap, kind: type
) -> None:
    rows = Rows([wrap(env) for env in envs])
    assert [type(row) for row in rows] == [kind, kind]
    assert rows[1].env.unwrapped is envs[1].unwrapped
    rows.close()


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_every_kind_of_row_takes_the_same_actions(envs: list[FakeEnv], wrap: Wrap) -> None:
    row = Rows([wrap(envs[0])])[0]
    for action in (0, np.int64(1), len(BEHAVIOURS) - 1):
        assert row.takes(action) is True
    for action in (-1, len(BEHAVIOURS), 0.5, "add", None, [0]):
        assert row.takes(action) is False


def test_a_step_in_a_thread_begins_when_it_is_sent(envs: list[FakeEnv]) -> None:
    rows = Rows([Counter(envs[0])])
    pending = rows[0].begin_step(0)
    assert envs[0].actions == []
    pending.send(later=True)
    assert wait_until(lambda: envs[0].actions == [0])
    assert pending.result()[0].tolist() == [8, 64, 1]
    rows.close()


def test_threads_are_those_of_the_rows_and_end_with_them(envs: list[FakeEnv]) -> None:
    names: list[str] = []

    class Named(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            names.append(threading.current_thread().name)
            return super().step(action)

    rows = Rows([Named(env) for env in envs])
    begun = [row.begin_step(0) for row in rows]
    for pending in begun:
        pending.send()
    for pending in begun:
        pending.result()
    assert all(name.startswith("vector-environment") for name in names)
    rows.close()
    assert not any(t.name.startswith("vector-environment") for t in threading.enumerate())


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("doing", ["step", "reset"])
def test_an_abandoned_call_ends_with_a_result_that_reports_it(
    envs: list[FakeEnv], wrap: Wrap, doing: str
) -> None:
    rows = Rows([wrap(env) for env in envs])
    workers = [worker_pid(env) for env in envs]
    if doing == "step":
        pending: Any = rows[0].begin_step(ACTIONS["hang"])
    else:
        pending = rows[0].begin_reset(None, {"benchmark": "benchmark://fake-v0/7?start=hang"})
    pending.send()
    rows[0].abandon()
    with pytest.raises(ServiceIsClosed, match="closed"):
        pending.result()
    assert wait_until(lambda: workers[0] is not None and not is_running(workers[0]))
    assert worker_pid(envs[0]) is None
    assert envs[1].step(0)[0].tolist() == [8, 64, 1], "the other row goes on"
    rows.close()


def test_queued_calls_are_not_started_after_a_close(envs: list[FakeEnv]) -> None:
    started, go_on = threading.Event(), threading.Event()

    def block() -> None:
        started.set()
        go_on.wait(120)

    with ThreadPoolExecutor(1) as executor:
        executor.submit(block)
        assert started.wait(120)
        row = ThreadRow(Counter(envs[0]), lambda: executor)
        pending = row.begin_step(0)
        pending.send()
        row.abandon()
        go_on.set()
    assert envs[0].actions == []


def test_rows_may_be_closed_twice_and_before_anything_ran() -> None:
    with FakeEnv() as env:
        for wrap in WRAPPERS:
            rows = Rows([wrap(env)])
            rows.close()
            rows.close()


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, stand_in(lambda rows: pickle.loads(pickle.dumps(rows)))]
)
def test_a_copy_is_made_anew_around_copies(
    envs: list[FakeEnv], duplicate: Callable[[Rows], Rows]
) -> None:
    envs[0].step(0)
    rows = Rows([envs[0], Counter(envs[1])])
    rows[1].begin_step(0).result()
    twin = duplicate(rows)
    try:
        assert [type(row) for row in twin] == [DirectRow, ThreadRow]
        for row, mine in zip(twin, rows, strict=True):
            assert row.env is not mine.env
            assert row.begin_step(0).result()[0].tolist() == [9, 81, 1]
        assert [env.actions for env in envs] == [[0], [0]]
    finally:
        twin.close()
        rows.close()
