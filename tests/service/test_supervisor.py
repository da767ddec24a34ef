# SPDX-License-Identifier: MIT
"""Zygotes: started once, replaced when lost, and honest about what they cannot load."""

import os
import resource
import signal
import subprocess
import threading

import pytest

from compiler_gym.errors import (
    EnvironmentNotSupported,
    ServiceInitError,
    ServiceIsClosed,
    ServiceOSError,
    ServiceTransportError,
    WorkerCrashedError,
)
from compiler_gym.service import (
    Limits,
    SessionSource,
    WorkerConnection,
    describe_source,
    supervisor,
)
from compiler_gym.service.supervisor import ZygoteHandle, zygote_for
from compiler_gym.testing import descendants, is_running, wait_until, worker_files
from service.workers import FAKE, Open, number, start, step

FAKES = "compiler_gym.testing.fakes"


def process_of(zygote: ZygoteHandle) -> int:
    return zygote._process.pid  # pyright: ignore[reportPrivateUsage]  # whom to kill


def test_a_zygote_serves_every_environment_of_its_source(open_worker: Open) -> None:
    first, second = open_worker(), open_worker()
    assert zygote_for(FAKE) is zygote_for(FAKE)
    assert {first.pid, second.pid} <= descendants(process_of(zygote_for(FAKE)))


def test_options_reach_the_compiler() -> None:
    source = SessionSource(FAKE.session, (("version", "fake 2"),))
    assert describe_source(source, in_process=False).compiler_version == "fake 2"
    assert describe_source(FAKE, in_process=False).compiler_version == "fake 1"
    zygote_for(source).close()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (SessionSource("no_such_module:Session"), "No module named 'no_such_module'"),
        (SessionSource(f"{FAKES}:NoSuchClass"), "NoSuchClass"),
        (SessionSource("compiler_gym.testing.fakes:BEHAVIOURS"), "is not a CompilerSession"),
        (SessionSource(f"{FAKES}:FakeSession", (("refuse", "no gcc here"),)), "no gcc here"),
        (SessionSource("service.broken_sessions:Exits"), "SystemExit"),
    ],
)
def test_a_session_that_cannot_be_loaded_gives_the_reason(
    source: SessionSource, message: str
) -> None:
    before = descendants(os.getpid())
    with pytest.raises(EnvironmentNotSupported, match=message):
        zygote_for(source)
    assert wait_until(lambda: descendants(os.getpid()) <= before)


@pytest.mark.parametrize(
    ("session", "error", "message"),
    [
        ("Foreign", EnvironmentNotSupported, "speaks protocol 99, but"),
        ("Dies", ServiceInitError, "status 7 while starting; set COMPILER_GYM_DEBUG=1"),
        ("Garbles", ServiceTransportError, "malformed message"),
    ],
)
def test_a_zygote_that_starts_badly_is_refused(
    session: str, error: type[Exception], message: str
) -> None:
    before = descendants(os.getpid())
    with pytest.raises(error, match=message):
        zygote_for(SessionSource(f"service.broken_sessions:{session}"))
    assert wait_until(lambda: descendants(os.getpid()) <= before)


def test_a_zygote_that_never_gets_ready_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "START_SECONDS", 0.3)
    before = descendants(os.getpid())
    with pytest.raises(ServiceInitError, match="not ready after"):
        zygote_for(SessionSource("service.broken_sessions:Stalls"))
    assert wait_until(lambda: descendants(os.getpid()) <= before)


def test_an_interpreter_that_cannot_be_started_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    with pytest.raises(ServiceInitError, match="cannot start /no/such/python"):
        ZygoteHandle.start(FAKE)


def test_a_lost_zygote_takes_its_workers_along_and_is_replaced(open_worker: Open) -> None:
    source = SessionSource(FAKE.session, (("version", "lost"),))
    worker = open_worker(source)
    worker.call(step("write_file"))
    zygote = zygote_for(source)
    os.kill(process_of(zygote), signal.SIGKILL)
    assert wait_until(lambda: not is_running(worker.pid))
    with pytest.raises(WorkerCrashedError, match="exit status is unknown"):
        worker.call(step("add"))
    files = set(worker_files())
    replaced = open_worker(source)
    assert number(replaced, "add") == 8
    assert not [path for path in files if f"/{worker.pid}-" in str(path) and path.exists()]
    zygote_for(source).close()


def test_threads_share_one_zygote() -> None:
    source = SessionSource(FAKE.session, (("version", "threads"),))
    results: list[int] = []

    def work(start_at: int) -> None:
        connection = WorkerConnection.open(source, Limits())
        connection.call(start(str(start_at).encode()))
        results.append(number(connection, *["add"] * 20) - start_at)
        connection.close()

    threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [20] * 8
    zygote = zygote_for(source)
    assert wait_until(lambda: len(descendants(process_of(zygote))) == 0)
    zygote.close()


def test_a_closed_zygote_refuses() -> None:
    zygote = ZygoteHandle.start(FAKE)
    zygote.close()
    zygote.close()
    with pytest.raises(ServiceIsClosed, match="closed"):
        zygote.spawn(0)


def test_a_zygote_ends_no_process_that_is_not_its_own(open_worker: Open) -> None:
    open_worker()
    bystander = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        assert zygote_for(FAKE).reap(bystander.pid, kill=True, seconds=0.1).status is None
        assert is_running(bystander.pid)
    finally:
        bystander.kill()
        bystander.wait()


def test_too_many_open_files_are_an_error_that_passes(open_worker: Open) -> None:
    worker = open_worker()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        with pytest.raises(ServiceOSError, match="Too many open files"):
            WorkerConnection.open(FAKE, Limits())
        with pytest.raises(ServiceOSError, match="too many open files"):
            worker.fork()
        with pytest.raises(ServiceOSError, match="Too many open files"):
            ZygoteHandle.start(FAKE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert number(worker, "add") == 8
    fork = worker.fork()
    assert fork is not None
    assert number(fork, "add") == 9
    fork.close()


def test_a_worker_without_room_for_a_fork_reports_it(open_worker: Open) -> None:
    worker = open_worker(SessionSource("service.broken_sessions:Alone"))
    with pytest.raises(ServiceOSError, match="cannot fork"):
        worker.fork()
    assert number(worker, "add") == 8
    worker.close()
