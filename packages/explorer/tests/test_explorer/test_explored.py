# SPDX-License-Identifier: MIT
import threading
import time
from collections.abc import Iterator

import pytest

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, ExplorerError
from compiler_gym.testing import FakeEnv, is_running, wait_until, worker_pid
from compiler_gym_explorer.explored import Explored


def session_of(env: CompilerEnv) -> Explored:
    program = env.datasets.benchmark("benchmark://fake-v0/7")
    return Explored("fake-v0", FakeEnv, env, program, None, may_run=False)


@pytest.fixture
def env() -> CompilerEnv:
    return FakeEnv(reward_space="number", action_space="Behaviours")


@pytest.fixture
def session(env: CompilerEnv) -> Iterator[Explored]:
    session = session_of(env)
    session.start()
    yield session
    session.close()


def test_actions_of_an_episode_lead_to_where_it_was(env: CompilerEnv) -> None:
    session = session_of(env)
    session.start(["add", "double", "segfault", "add"])
    record = session.record()
    assert [node.name for node in record.nodes] == ["", "add", "double", "segfault"]
    assert record.at == 3
    session.close()


def test_it_is_idle_until_it_is_used(session: Explored) -> None:
    session._used -= 1000.0  # pyright: ignore[reportPrivateUsage]  # as if it had waited
    assert session.idle_seconds >= 1000.0
    session.record(whole=False)  # to be listed is no use
    assert session.idle_seconds >= 1000.0
    session.add(0, ["add"])
    assert session.idle_seconds < 1000.0


def test_only_one_at_a_time_gets_at_the_tree(session: Explored) -> None:
    threads = [threading.Thread(target=session.add, args=(0, ["add", "add"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [node.name for node in session.record().nodes] == ["", "add", "add"]


def test_to_close_it_interrupts_who_waits_for_a_worker(session: Explored, env: CompilerEnv) -> None:
    pid = worker_pid(env)
    assert pid is not None
    failed: list[Exception] = []

    def hang() -> None:
        try:
            nodes = session.add(0, ["hang"])
            assert nodes[0].error is not None
        except (CompilerGymError, AssertionError) as error:
            failed.append(error)

    thread = threading.Thread(target=hang)
    thread.start()
    time.sleep(0.3)
    session.close()
    thread.join(120)
    assert not thread.is_alive()
    assert wait_until(lambda: not is_running(pid))
    with pytest.raises(ExplorerError, match="closed"):
        session.add(0, ["add"])


def test_running_a_program_is_refused_without_permission(session: Explored) -> None:
    session.require_allowed(["number"], run=False)
    session.require_allowed(["clock"], run=True)
    with pytest.raises(ExplorerError, match="clock runs the program"):
        session.require_allowed(["number", "clock"], run=False)


def test_failing_costs_are_reported_next_to_the_others(session: Explored) -> None:
    session.add(0, ["negate"])
    (values,) = session.measure([1], ["number", "unavailable"])
    assert values.costs == {"number": -7.0, "unavailable": None}
    assert values.errors["unavailable"].type == "ObservationError"
    with pytest.raises(ExplorerError, match="is not a number"):
        session.measure([0], ["summary"])
