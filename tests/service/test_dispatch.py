# SPDX-License-Identifier: MIT
"""With more workers than cores each core gets its own requests, also after errors."""

import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from compiler_gym.errors import (
    CompilerGymError,
    ServiceIsClosed,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from compiler_gym.service import WorkerConnection, busy_workers, dispatch, exchange
from compiler_gym.service.dispatch import BusyWorkers
from compiler_gym.service.messages import Failed, Stepped
from compiler_gym.testing import is_running, wait_until
from service.workers import Open, number, start, step


def wave(busy_workers: BusyWorkers, size: int) -> list[bool]:
    """Make `size` requests at once and answer all; return which workers might look."""
    seen: list[bool] = []
    for key in range(size):
        busy_workers.enter(key)
        seen.append(busy_workers.worker_may_look)
    for key in range(size):
        busy_workers.leave(key)
    return seen


def test_as_many_workers_as_cores_look() -> None:
    busy_workers = BusyWorkers(cores=2)
    assert wave(busy_workers, 1) == wave(busy_workers, 1) == [True]
    wave(busy_workers, 2)
    assert wave(busy_workers, 2) == [True] * 2


def test_the_first_request_of_a_wave_knows_how_many_follow() -> None:
    busy_workers = BusyWorkers(cores=2)
    wave(busy_workers, 8)
    assert wave(busy_workers, 8) == [False] * 8


def test_a_wave_is_forgotten_after_the_next() -> None:
    busy_workers = BusyWorkers(cores=2)
    wave(busy_workers, 8)
    wave(busy_workers, 1)
    assert wave(busy_workers, 1) == [True]


def test_a_client_looks_where_fewer_are_busy_than_there_are_cores() -> None:
    busy_workers = BusyWorkers(cores=2)
    busy_workers.enter("a")
    assert busy_workers.client_may_look
    busy_workers.enter("b")
    assert not busy_workers.client_may_look
    busy_workers.leave("a")
    assert busy_workers.client_may_look


def test_leaving_twice_or_unasked_changes_nothing() -> None:
    busy_workers = BusyWorkers(cores=1)
    busy_workers.enter("a")
    busy_workers.leave("nobody")
    assert not busy_workers.client_may_look
    busy_workers.leave("a")
    busy_workers.leave("a")
    busy_workers.enter("b")
    assert not busy_workers.client_may_look
    busy_workers.clear()
    assert busy_workers.client_may_look


NOBODY = 4_194_303
"""The number of no process: the largest that the kernel may give."""
ways = pytest.mark.parametrize("in_turn", [False, True], ids=["at once", "in turn"])


def asked(
    workers: list[WorkerConnection], *, in_turn: bool = True, seconds: list[float] | None = None
) -> list[Any]:
    """Exchange what `workers` hold; return the class of each one's reply or error."""
    channels = [worker.channel for worker in workers if worker.channel is not None]
    exchange(channels, (seconds or [1e-3] * len(channels)) if in_turn else None)
    found: list[Any] = []
    for worker in workers:
        try:
            found.append(type(worker.gather()))
        except CompilerGymError as error:
            found.append(type(error))
    return found


def numbers(connections: list[WorkerConnection]) -> list[int]:
    return [number(connection) for connection in connections]


def hold(workers: list[WorkerConnection], *names: str) -> None:
    """Have the first worker keep back the first of the actions `names`, and so on."""
    for worker, name in zip(workers, names, strict=True):
        worker.submit(step(name), later=True)


@ways
@pytest.mark.usefixtures("one_core")
def test_replies_are_those_of_their_requests(open_worker: Open, in_turn: bool) -> None:
    workers = [open_worker() for _ in range(4)]
    for _ in range(2):
        hold(workers, "add", "raise", "double", "negate")
        assert asked(workers, in_turn=in_turn) == [Stepped, Failed, Stepped, Stepped]
        taken = [worker.channel.seconds for worker in workers if worker.channel is not None]
        assert taken[1] == 0 < min(taken[place] for place in (0, 2, 3))
        workers[1] = open_worker()
    assert numbers([workers[0], *workers[2:]]) == [9, 28, 7]


def sent(workers: list[WorkerConnection]) -> list[int]:
    """Return the workers in the order in which they got their requests."""
    return sorted(range(len(workers)), key=lambda place: when(workers[place]))


def when(worker: WorkerConnection) -> float:
    """Return when a worker got its request, by any clock: all have the same seconds from then."""
    assert worker.channel is not None
    return worker.channel.deadline


@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize("seconds", [[0.3, 1.0, 0.2, 0.4], [3e-4, 4e-3, 2e-4, 4e-4]])
def test_a_core_gets_one_at_a_time_the_longest_first(
    open_worker: Open, seconds: list[float]
) -> None:
    workers = [open_worker() for _ in range(4)]
    hold(workers, "add", "impatient_child", "double", "negate")
    assert asked(workers, seconds=seconds) == [Stepped, Failed, Stepped, Stepped]
    assert sent(workers) == [1, 3, 0, 2]
    assert when(workers[3]) - when(workers[1]) > 0.2, "it was there before the child had ended"
    for before, after in pairwise((3, 0, 2)):
        assert when(workers[after]) - when(workers[before]) >= workers[before].channel.seconds  # type: ignore[union-attr]
    assert numbers([workers[0], *workers[2:]]) == [8, 14, -7]


@pytest.mark.usefixtures("one_core")
@pytest.mark.parametrize(("seconds", "at_first"), [(1e-5, 5), (1e-3, 4), (1e-2, 1)])
def test_a_cores_first_share_depends_on_the_expected_times(
    open_worker: Open, seconds: float, at_first: int
) -> None:
    workers = [open_worker() for _ in range(5)]
    hold(workers, "impatient_child", "add", "add", "add", "add")
    assert asked(workers, seconds=[seconds] * 5) == [Failed, *[Stepped] * 4]
    assert sent(workers) == list(range(5))
    waited = [when(worker) - when(workers[0]) for worker in workers]
    assert [seconds < 0.2 for seconds in waited] == [place < at_first for place in range(5)]


@pytest.mark.slow  # it fails where others take half of the core; test_request.cpp needs no clock
@pytest.mark.usefixtures("one_core")
def test_requests_waiting_for_their_core_get_more_time(open_worker: Open) -> None:
    workers = [open_worker() for _ in range(12)]
    for in_turn, seconds in ((True, 1e-2), (True, 1e-3), (True, 1e-5), (False, 0.0)):
        for worker in workers:
            worker.submit(step("work"), timeout=1.0, later=True)
        began = time.monotonic()
        assert asked(workers, in_turn=in_turn, seconds=[seconds] * 12) == [Stepped] * 12
        assert time.monotonic() - began > 1.2, "each works for 0.1 s, and there is one core"


@ways
@pytest.mark.usefixtures("one_core")
def test_a_hang_costs_one_deadline_where_others_answer(open_worker: Open, in_turn: bool) -> None:
    workers = [open_worker() for _ in range(6)]
    for place, worker in enumerate(workers):
        worker.submit(step("add" if place else "hang"), timeout=30.0 if place else 0.5, later=True)
    began = time.monotonic()
    assert asked(workers, in_turn=in_turn) == [WorkerTimeoutError, *[Stepped] * 5]
    assert time.monotonic() - began < 20


@ways
@pytest.mark.usefixtures("one_core")
def test_every_failure_belongs_to_its_channel(open_worker: Open, in_turn: bool) -> None:
    workers = [open_worker() for _ in range(6)]
    good, dead, late, gone, closed, last = workers
    gone.channel.socket.shutdown(2)  # type: ignore[union-attr]  # its worker leaves
    late.submit(step("hang"), timeout=0.3, later=True)
    hold([good, dead, gone, closed, last], "add", "segfault", "add", "add", "double")
    closed.close()
    assert asked(workers, in_turn=in_turn) == [
        Stepped,
        WorkerCrashedError,
        WorkerTimeoutError,
        WorkerCrashedError,
        ServiceIsClosed,
        Stepped,
    ]
    assert numbers([good, last]) == [8, 14]
    assert not any(worker.is_open for worker in (dead, late, gone, closed))
    assert not busy_workers._waiting  # pyright: ignore[reportPrivateUsage]  # no public name tells


@ways
@pytest.mark.usefixtures("one_core")
def test_a_caller_with_all_replies_does_not_wait_for_others(
    open_worker: Open, in_turn: bool
) -> None:
    mine, others = open_worker(), [open_worker(), open_worker()]
    for other in others:
        other.submit(step("hang"))
    mine.submit(step("add"), later=True)
    assert asked([mine], in_turn=in_turn) == [Stepped]
    for other in others:
        other.abandon()


@pytest.mark.usefixtures("one_core")
def test_stored_requests_are_sent_by_gathering(open_worker: Open) -> None:
    worker = open_worker()
    worker.submit(step("add"), later=True)
    reply = worker.gather()
    assert isinstance(reply, Stepped)
    assert reply.observations == [8]


@pytest.mark.usefixtures("one_core")
def test_a_stored_request_that_was_never_sent_is_an_interruption(open_worker: Open) -> None:
    worker = open_worker()
    worker.submit(step("add"), later=True)
    with pytest.raises(ServiceIsClosed, match="interrupted"):
        worker.submit(step("add"))
    assert not worker.is_open
    assert wait_until(lambda: not is_running(worker.pid))


@ways
@pytest.mark.usefixtures("one_core")
def test_an_interrupt_loses_no_action_silently(open_worker: Open, in_turn: bool) -> None:
    workers = [open_worker() for _ in range(3)]
    hold(workers, "hang", "add", "add")
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        asked(workers, in_turn=in_turn)
    timer.join()
    for worker in workers:
        with pytest.raises(ServiceIsClosed, match="interrupted"):
            worker.submit(step("add"))
        assert wait_until(lambda pid=worker.pid: not is_running(pid))  # type: ignore[misc]


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let single requests not keep a worker on their core if this machine is busy."""
    monkeypatch.setattr(BusyWorkers, "is_one", False)


@pytest.mark.usefixtures("unsettled")
def test_a_worker_has_one_core_in_a_wave_and_all_again_after(open_worker: Open) -> None:
    everywhere = os.sched_getaffinity(0)
    workers = [open_worker() for _ in range(2 * len(everywhere) + 1)]
    hold(workers, *["add"] * len(workers))
    assert asked(workers) == [Stepped] * len(workers)
    cores = [worker.channel.core for worker in workers]  # type: ignore[union-attr]
    assert [os.sched_getaffinity(worker.pid) for worker in workers] == [{core} for core in cores]
    assert set(cores) == everywhere
    copy = workers[0].fork()
    assert copy is not None
    workers[1].call(start())
    hold(workers[2:3], "add")
    assert asked(workers[2:3], in_turn=False) == [Stepped]
    assert [number(one, "add") for one in (*workers[:3], copy)] == [9, 8, 10, 9]
    for one in (*workers[:3], copy):
        assert os.sched_getaffinity(one.pid) == everywhere
    copy.close()


@pytest.mark.usefixtures("one_core")
def test_with_busy_cores_all_requests_are_sent_at_once(
    open_worker: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = [open_worker() for _ in range(3)]

    def step_all() -> list[bool]:
        in_turns: list[bool] = []
        for late_seconds in (10.0, 1e-9, 10.0, 10.0, 10.0, 10.0, 10.0):
            monkeypatch.setattr(dispatch, "_LATE_SECONDS", late_seconds)
            in_turns.append(busy_workers.takes_turns(len(workers)))
            hold(workers, "add", "add", "add")
            assert asked(workers, in_turn=in_turns[-1]) == [Stepped] * 3
        return in_turns

    assert step_all() == [True, True, False, False, False, False, True]
    assert numbers(workers) == [14, 14, 14]


@pytest.mark.usefixtures("one_core")
def test_a_worker_gets_its_former_core_again(open_worker: Open) -> None:
    (core,) = os.sched_getaffinity(0)
    workers = [open_worker() for _ in range(4)]
    for worker, was_on in zip(workers, [core + 1, core + 1, core, core], strict=True):
        worker.channel.core = was_on  # type: ignore[union-attr]
    hold(workers, "add", "add", "add", "add")
    assert asked(workers) == [Stepped] * 4
    assert sent(workers) == [0, 2, 3, 1], "the choice is among the next two"


@pytest.mark.usefixtures("one_core")
def test_where_no_core_may_be_chosen_the_kernel_chooses(open_worker: Open) -> None:
    workers = [open_worker() for _ in range(3)]
    before = [allowed(worker.pid) for worker in workers]
    for worker in workers:
        worker.channel.pid = NOBODY  # type: ignore[union-attr]
    hold(workers, "add", "add", "add")
    assert asked(workers) == [Stepped] * 3
    assert numbers(workers) == [8, 8, 8]
    assert [allowed(worker.pid) for worker in workers] == before


@pytest.fixture
def bystander() -> Iterator[int]:
    """A process that has nothing to do with it."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


@pytest.mark.usefixtures("one_core")
def test_a_worker_that_ended_before_is_not_placed(open_worker: Open, bystander: int) -> None:
    os.sched_setaffinity(bystander, os.sched_getaffinity(os.getppid()))
    before = allowed(bystander)
    dead, good = open_worker(), open_worker()
    os.kill(dead.pid, signal.SIGKILL)
    channel = dead.channel
    assert channel is not None
    assert wait_until(channel.has_ended)
    channel.pid = bystander  # the kernel gives numbers again
    hold([dead, good], "add", "add")
    assert asked([dead, good]) == [WorkerCrashedError, Stepped]
    assert allowed(bystander) == before > 1
    assert allowed(good.pid) == 1


@pytest.mark.usefixtures("one_core", "unsettled")
def test_a_worker_that_could_not_be_placed_again_is_set_free_later(open_worker: Open) -> None:
    everywhere = os.sched_getaffinity(os.getppid())
    worker = open_worker()
    channel = worker.channel
    assert channel is not None
    for pid in (worker.pid, NOBODY):
        channel.pid = pid
        channel.core += 1
        hold([worker], "add")
        assert asked([worker]) == [Stepped]
        assert channel.is_placed
    assert allowed(worker.pid) == 1
    channel.pid = worker.pid
    os.sched_setaffinity(0, everywhere)
    assert number(worker, "add") == 10
    assert allowed(worker.pid) == len(everywhere)


@ways
@pytest.mark.usefixtures("one_core")
def test_a_deadline_may_be_without_an_end(open_worker: Open, in_turn: bool) -> None:
    workers = [open_worker() for _ in range(4)]
    for name in ("work", "add"):
        for place, worker in enumerate(workers):
            worker.submit(step(name), timeout=math.inf if place else 5.0, later=True)
        assert asked(workers, in_turn=in_turn) == [Stepped] * 4
    workers[0].channel.socket.shutdown(2)  # type: ignore[union-attr]  # its worker leaves
    for worker in workers:
        worker.submit(step("add"), timeout=math.inf, later=True)
    assert asked(workers, in_turn=in_turn) == [WorkerCrashedError, *[Stepped] * 3]


@pytest.mark.usefixtures("one_core")
def test_an_interrupted_wave_counts_no_more_after_the_next(open_worker: Open) -> None:
    workers = [open_worker() for _ in range(3)]
    hold(workers, "add", "add", "add")
    leave = busy_workers.leave
    busy_workers.leave = lambda key: None  # type: ignore[method-assign]  # interrupted before it
    try:
        exchange([worker.channel for worker in workers])  # type: ignore[misc]
    finally:
        busy_workers.leave = leave  # type: ignore[method-assign]
    assert busy_workers._waiting  # pyright: ignore[reportPrivateUsage]  # no public name tells
    assert [type(worker.gather()) for worker in workers] == [Stepped] * 3
    hold(workers, "add", "add", "add")
    assert asked(workers, in_turn=False) == [Stepped] * 3
    assert not busy_workers._waiting  # pyright: ignore[reportPrivateUsage]  # no public name tells


@pytest.mark.usefixtures("unsettled")
def test_threads_of_a_worker_have_all_cores_again_too(open_worker: Open) -> None:
    worker = open_worker()
    hold([worker], "thread")
    assert asked([worker]) == [Stepped]
    assert number(worker, "add") == 9
    tasks = list(map(int, os.listdir(f"/proc/{worker.pid}/task")))
    assert len(tasks) > 1
    assert all(os.sched_getaffinity(task) == os.sched_getaffinity(0) for task in tasks)


@pytest.mark.usefixtures("one_core")
def test_an_unwritable_message_is_raised_and_not_sent(open_worker: Open) -> None:
    worker = open_worker()
    unwritable = step("add")
    unwritable.actions = [object()]
    with pytest.raises(TypeError):
        worker.submit(unwritable, later=True)
    assert number(worker, "add") == 8


def allowed(pid: int) -> int:
    """Return on how many cores a process may run."""
    with open(f"/proc/{pid}/status") as status:
        cores = next(line.split()[1] for line in status if line.startswith("Cpus_allowed:"))
    return int(cores.replace(",", ""), 16).bit_count()
