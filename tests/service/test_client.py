# SPDX-License-Identifier: MIT
"""Programs that own workers: however they end, nothing is left; whatever they do, it works."""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidParameterError,
    ServiceIsClosed,
    WorkerDied,
)
from compiler_gym.service import (
    Limits,
    LocalConnection,
    SessionSource,
    WorkerConnection,
    busy_workers,
)
from compiler_gym.service.messages import Failed
from compiler_gym.testing import (
    FakeEnv,
    descendants,
    is_running,
    wait_until,
    worker_files,
    worker_pid,
)
from service.workers import ACTIONS, FAKE, client, pids_from, start, step

MakeEnv = Callable[..., FakeEnv]


def nothing_is_left(pids: list[int], owner: int) -> None:
    assert wait_until(lambda: not any(map(is_running, pids)))
    assert wait_until(lambda: not worker_files(owner)), worker_files(owner)


BUSY = """
idle, forked, busy = make(), make(), make()
idle.reset(); forked.reset(); busy.reset()
idle.step(ACTIONS["write_file"])
idle.step(ACTIONS["background"])
fork = forked.fork()
fork.step(ACTIONS["write_file"])
second = fork.fork()
hanging = threading.Thread(target=lambda: busy.step(ACTIONS["stuck_child"]), daemon=True)
hanging.start()
assert wait_until(lambda: len(descendants(worker_pid(busy))) >= 3)
"""


def test_a_killed_client_leaves_nothing() -> None:
    with client(BUSY + "say(); time.sleep(600)") as program:
        pids = pids_from(program)
        assert len(pids) >= 10
        assert worker_files(program.pid)
        program.kill()
    nothing_is_left(pids, program.pid)


def test_a_client_that_just_ends_leaves_nothing() -> None:
    with client(BUSY + "say()") as program:
        pids = pids_from(program)
        assert program.wait(120) == 0
    nothing_is_left(pids, program.pid)


def test_a_client_that_raises_leaves_nothing() -> None:
    code = """
sys.stderr = open(os.devnull, "w")
env = make(); env.reset(); say(); raise SystemExit(5)
"""
    with client(code) as program:
        pids = pids_from(program)
        assert program.wait(120) == 5
    nothing_is_left(pids, program.pid)


def test_a_client_killed_while_a_compiler_loads_leaves_nothing() -> None:
    code = """
thread = threading.Thread(
    target=lambda: FakeEnv(session="service.broken_sessions:Stalls"), daemon=True
)
thread.start()
assert wait_until(lambda: descendants(os.getpid()))
time.sleep(0.5)
say()
time.sleep(600)
"""
    with client(code) as program:
        pids = pids_from(program)
        program.kill()
    nothing_is_left(pids, program.pid)


def test_a_thread_that_ends_does_not_end_what_it_started() -> None:
    code = """
made = []
thread = threading.Thread(target=lambda: made.append(make()))
thread.start(); thread.join()
env = made[0]
env.reset()
time.sleep(0.3)
print(env.step(ACTIONS["add"])[0], flush=True)
"""
    with client(code) as program:
        assert pids_from(program) == [8]


def test_an_exception_in_a_constructor_leaves_no_worker(make_env: MakeEnv) -> None:
    make_env().reset()
    before = descendants(os.getpid())
    wrong: list[dict[str, Any]] = [{"isolation": "hope"}, {"render_mode": "smell"}]
    for arguments in wrong:
        with pytest.raises(InvalidParameterError, match="must be"):
            FakeEnv(**arguments)
    with pytest.raises(LookupError, match="no observation space"):
        FakeEnv(observation_space="nothing")
    assert descendants(os.getpid()) == before


def test_a_forgotten_environment_ends_its_worker() -> None:
    env = FakeEnv()
    env.reset()
    pid = worker_pid(env)
    assert pid is not None
    del env
    gc.collect()
    assert wait_until(lambda: not is_running(pid))


def test_a_program_that_cannot_start_leaves_the_environment_usable(make_env: MakeEnv) -> None:
    env = make_env()
    for behaviour in ("segfault", "raise", "exit"):
        with pytest.raises(BenchmarkInitError, match="cannot start"):
            env.reset(benchmark=f"benchmark://fake-v0/7?start={behaviour}")
    with pytest.raises(BenchmarkInitError, match="deadline"):
        env.reset(benchmark="benchmark://fake-v0/7?start=hang", timeout=0.2)
    assert env.reset(benchmark="benchmark://fake-v0/5")[0] == 5


def test_threads_use_separate_environments(make_env: MakeEnv) -> None:
    envs = [make_env() for _ in range(4)]
    found: dict[int, int] = {}

    def work(index: int) -> None:
        envs[index].reset(benchmark=f"benchmark://fake-v0/{100 * index}")
        for _ in range(50):
            found[index] = envs[index].step(ACTIONS["add"])[0]

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {index: 100 * index + 50 for index in range(4)}


def test_an_interrupt_during_a_request_leaves_the_environment_usable(make_env: MakeEnv) -> None:
    env, other = make_env(), make_env()
    env.reset()
    other.reset()
    worker = worker_pid(env)
    assert worker is not None
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        env.step(ACTIONS["hang"])
    timer.join()
    assert wait_until(lambda: not is_running(worker))
    *_, truncated, info = env.step(ACTIONS["add"])
    assert truncated
    assert isinstance(info["error"], ServiceIsClosed)
    assert env.reset()[0] == 7
    assert env.step(ACTIONS["add"])[0] == 8
    assert other.step(ACTIONS["add"])[0] == 8


def test_two_clients_do_not_know_each_other() -> None:
    code = "env = make(); env.reset(); env.step(ACTIONS['write_file']); say(); time.sleep(600)"
    with client(code) as one, client(code) as two:
        ones, twos = pids_from(one), pids_from(two)
        assert not set(ones) & set(twos)
        one.kill()
        one.wait()
        nothing_is_left(ones, one.pid)
        assert all(map(is_running, twos))
        assert worker_files(two.pid)
        two.kill()
    nothing_is_left(twos, two.pid)


FORK = """
env = make()
env.reset()
child = os.fork()
if child == 0:
    *_, truncated, info = env.step(ACTIONS["add"])
    print(truncated, info["error_type"], flush=True)
    observation, _ = env.reset()
    print(observation, env.step(ACTIONS["add"])[0], flush=True)
    mine = make()
    mine.reset()
    print(mine.step(ACTIONS["double"])[0], flush=True)
    say()
    os._exit(0)
os.waitpid(child, 0)
print(env.step(ACTIONS["add"])[0], flush=True)
"""


def test_a_forked_child_starts_its_own_and_the_parent_goes_on() -> None:
    with client(FORK) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "True ServiceIsClosed\n"
        assert pids_from(program) == [7, 8]
        assert pids_from(program) == [14]
        children = pids_from(program)
        assert pids_from(program) == [8]
        assert program.wait(120) == 0
    nothing_is_left(children, program.pid)


def double(seed: int) -> tuple[int, list[int]]:
    """Run an episode in a process of a pool."""
    with FakeEnv(observation_space="number", action_space="Behaviours") as env:
        env.reset(benchmark=f"benchmark://fake-v0/{seed}")
        return env.step(ACTIONS["double"])[0], sorted(descendants(os.getpid()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_a_pool_have_separate_environments(method: str, make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.map(double, range(4))
    assert [doubled for doubled, _ in results] == [0, 2, 4, 6]
    pids = [pid for _, started in results for pid in started]
    assert wait_until(lambda: not any(map(is_running, pids)))
    assert env.step(ACTIONS["add"])[0] == 8


def test_a_worker_killed_between_steps_truncates_the_episode(make_env: MakeEnv) -> None:
    env = make_env(reward_space="number")
    env.reset()
    pid = worker_pid(env)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    observation, reward, terminated, truncated, info = env.step(ACTIONS["add"])
    assert (observation, reward, terminated, truncated) == (0, 0.0, False, True)
    assert isinstance(info["error"], WorkerDied)
    assert env.reset()[0] == 7


class TestLocalConnection:
    """The session in this process."""

    def test_an_exception_is_a_reply(self) -> None:
        connection = LocalConnection(FAKE)
        connection.call(start())
        for action in ("raise", "system_exit", "fatal"):
            reply = connection.call(step(action))
            assert isinstance(reply, Failed)
            connection.call(start())
        connection.close()

    def test_an_interrupt_closes_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        connection = LocalConnection(FAKE)
        connection.call(start())
        assert connection.servicer is not None
        session: Any = connection.servicer.session

        def interrupt(action: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(session, "apply_action", interrupt)
        with pytest.raises(KeyboardInterrupt):
            connection.call(step("add"))
        with pytest.raises(ServiceIsClosed, match="closed"):
            connection.call(step("add"))

    def test_its_files_end_with_it(self, own_caches: Any) -> None:
        connection = LocalConnection(FAKE)
        connection.call(start())
        connection.call(step("write_file"))
        assert list(connection._scratch.rglob("number"))  # pyright: ignore[reportPrivateUsage]  # no public name tells
        connection.close()
        connection.close()
        assert not connection._scratch.exists()  # pyright: ignore[reportPrivateUsage]  # no public name tells

    def test_a_session_that_is_not_there_reports_it(self) -> None:
        with pytest.raises(ImportError, match="no_such_module"):
            LocalConnection(SessionSource("no_such_module:Session"))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_an_abandoned_request_counts_only_while_its_connection_exists() -> None:
    waiting = busy_workers._waiting  # pyright: ignore[reportPrivateUsage]  # no public name tells
    connection = WorkerConnection.open(FAKE, Limits())
    connection.submit(start())
    assert id(connection) in waiting
    number = id(connection)
    del connection
    gc.collect()
    assert number not in waiting
