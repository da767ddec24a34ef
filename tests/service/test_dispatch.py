# SPDX-License-Identifier: MIT
"""With more workers than cores each core gets one request at a time, whatever becomes of it."""

import os
import signal
import time
from typing import Any

import pytest

from compiler_gym.errors import (
    CompilerGymError,
    ServiceIsClosed,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from compiler_gym.service import WorkerConnection, as_answered, crowd, dispatch, in_turn
from compiler_gym.service.messages import Stepped
from compiler_gym.testing import is_running, wait_until
from service.workers import Open, number, start, step


def gathered(connections: dict[int, Any], seconds: dict[int, float] | None = None) -> list[Any]:
    """Return the keys in the order of the replies, with the class of the reply or error."""
    found: list[Any] = []
    keys = as_answered(connections) if seconds is None else in_turn(connections, seconds)
    for key in keys:
        if connections[key] is None:
            found.append((key, None))
            continue
        try:
            found.append((key, type(connections[key].gather())))
        except CompilerGymError as error:
            found.append((key, type(error)))
    return found


def numbers(connections: list[WorkerConnection]) -> list[int]:
    return [number(connection) for connection in connections]


@pytest.mark.usefixtures("one_core")
def test_replies_are_gathered_as_they_come(open_worker: Open) -> None:
    slow, quick, closed = open_worker(), open_worker(), open_worker()
    slow.submit(step("impatient_child"))
    quick.submit(step("add"))
    closed.close()
    found = []
    for place in as_answered({0: slow, 1: quick, 2: closed, 3: None}):
        found.append(place)
        if place < 2:
            (slow, quick)[place].gather()
    assert found == [2, 1, 0, 3]


@pytest.mark.usefixtures("one_core")
def test_who_has_all_replies_does_not_wait_for_those_of_others(open_worker: Open) -> None:
    mine, others = open_worker(), [open_worker(), open_worker()]
    for other in others:
        other.submit(step("hang"))
    mine.submit(step("add"), timeout=10)
    began = time.monotonic()
    assert gathered({0: mine}) == [(0, Stepped)]
    assert time.monotonic() - began < 5
    for other in others:
        other.abandon()


@pytest.mark.usefixtures("one_core")
def test_what_is_late_and_what_died_can_be_gathered_too(open_worker: Open) -> None:
    late, dead, good = open_worker(), open_worker(), open_worker()
    late.submit(step("hang"), timeout=0.3)
    dead.submit(step("segfault"))
    good.submit(step("add"))
    found = gathered({0: late, 1: dead, 2: good})
    assert dict(found) == {0: WorkerTimeoutError, 1: WorkerCrashedError, 2: Stepped}
    assert found[-1][0] == 0


@pytest.mark.usefixtures("one_core")
def test_a_core_gets_one_at_a_time_in_the_order_of_the_keys(open_worker: Open) -> None:
    workers = [open_worker() for _ in range(4)]
    names = ["add", "impatient_child", "double", "negate"]
    for worker, name in zip(workers, names, strict=True):
        worker.submit(step(name), later=True)
    assert all(worker.is_held for worker in workers)
    order = [2, 0, 3, 1]
    seconds: dict[int, float] = {}
    found = []
    for key in in_turn({key: workers[key] for key in order}, seconds):
        sent = [other for other in order if not workers[other].is_held]
        assert len(sent) <= len(found) + 2, "the next one is sent before this one is taken in"
        workers[key].gather()
        found.append(key)
    assert found == order
    assert numbers([workers[0], *workers[2:]]) == [8, 14, -7]
    assert seconds.keys() == {2, 0, 3}, "the other one failed"
    assert all(0 < taken < 0.2 for taken in seconds.values())


@pytest.mark.usefixtures("one_core")
def test_every_failure_is_that_of_its_own(open_worker: Open) -> None:
    workers = [open_worker() for _ in range(6)]
    good, dead, late, gone, closed, last = workers
    gone.channel.socket.shutdown(2)  # type: ignore[union-attr]  # its worker leaves
    for worker, name in zip(
        workers, ["add", "segfault", "hang", "add", "add", "double"], strict=True
    ):
        worker.submit(step(name), timeout=0.3 if worker is late else None, later=True)
    closed.close()
    found = gathered(dict(enumerate(workers)), {})
    assert dict(found) == {
        0: Stepped,
        1: WorkerCrashedError,
        2: WorkerTimeoutError,
        3: WorkerCrashedError,
        4: ServiceIsClosed,
        5: Stepped,
    }
    assert numbers([good, last]) == [8, 14]
    assert not any(worker.is_open for worker in (dead, late, gone, closed))
    assert not crowd._waiting


@pytest.mark.usefixtures("one_core")
def test_what_was_kept_back_is_sent_by_who_gathers_it(open_worker: Open) -> None:
    worker = open_worker()
    worker.submit(step("add"), later=True)
    reply = worker.gather()
    assert isinstance(reply, Stepped)
    assert reply.observations == [8]


@pytest.mark.usefixtures("one_core")
def test_what_was_kept_back_and_never_sent_is_an_interruption(open_worker: Open) -> None:
    first, second = open_worker(), open_worker()
    for worker in (first, second):
        worker.submit(step("add"), later=True)
    for _ in in_turn({0: first, 1: second}, {}):
        first.gather()
        break
    second.abandon()
    third = open_worker()
    third.submit(step("add"), later=True)
    with pytest.raises(ServiceIsClosed, match="interrupted"):
        third.submit(step("add"))
    assert not third.is_open


def test_a_worker_has_one_core_in_a_wave_and_all_again_after(open_worker: Open) -> None:
    everywhere = os.sched_getaffinity(0)
    workers = [open_worker() for _ in range(2 * len(everywhere) + 1)]
    for worker in workers:
        worker.submit(step("add"), later=True)
    assert all(kind is Stepped for _, kind in gathered(dict(enumerate(workers)), {}))
    assert all(os.sched_getaffinity(worker.pid) == {worker.core} for worker in workers)
    assert {worker.core for worker in workers} == everywhere
    copy = workers[0].fork()
    assert copy is not None
    workers[1].call(start())
    assert [number(one, "add") for one in (workers[0], workers[1], copy)] == [9, 8, 9]
    for one in (workers[0], workers[1], copy):
        assert os.sched_getaffinity(one.pid) == everywhere
    copy.close()


@pytest.mark.usefixtures("one_core")
def test_where_others_want_the_cores_all_are_asked_at_once(
    open_worker: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = [open_worker() for _ in range(3)]

    def step_all() -> list[bool]:
        in_turns = []
        for late_seconds in (10.0, -1.0, 10.0, 10.0, 10.0, 10.0, 10.0):
            monkeypatch.setattr(dispatch, "_LATE_SECONDS", late_seconds)
            in_turns.append(crowd.takes_turns(len(workers)))
            for worker in workers:
                worker.submit(step("add"), later=in_turns[-1])
            connections = dict(enumerate(workers))
            assert len(gathered(connections, {} if in_turns[-1] else None)) == 3
        return in_turns

    assert step_all() == [True, True, False, False, False, False, True]
    assert numbers(workers) == [14, 14, 14]


@pytest.mark.usefixtures("one_core")
def test_who_was_on_a_core_before_gets_it_again(open_worker: Open) -> None:
    (core,) = os.sched_getaffinity(0)
    workers = [open_worker() for _ in range(4)]
    for worker, was_on in zip(workers, [core + 1, core + 1, core, core], strict=True):
        worker.core = was_on
        worker.submit(step("add"), later=True)
    # The choice is among the next two.
    assert [key for key, _ in gathered(dict(enumerate(workers)), {})] == [0, 2, 3, 1]


@pytest.mark.usefixtures("one_core")
def test_where_no_core_may_be_chosen_the_kernel_chooses(
    open_worker: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int, cores: set[int]) -> None:
        raise PermissionError("not here")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    workers = [open_worker() for _ in range(3)]
    for worker in workers:
        worker.submit(step("add"), later=True)
    assert gathered(dict(enumerate(workers)), {}) == [(0, Stepped), (1, Stepped), (2, Stepped)]
    assert numbers(workers) == [8, 8, 8]


@pytest.mark.usefixtures("one_core")
def test_a_worker_that_ended_before_is_not_placed(
    open_worker: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: placed.append(pid))
    dead, good = open_worker(), open_worker()
    os.kill(dead.pid, signal.SIGKILL)
    assert wait_until(dead.channel.has_ended)  # type: ignore[union-attr]  # it is open
    for worker in (dead, good):
        worker.submit(step("add"), later=True)
    assert gathered({0: dead, 1: good}, {}) == [(0, WorkerCrashedError), (1, Stepped)]
    assert set(placed) == {good.pid}


@pytest.mark.usefixtures("one_core")
def test_a_request_that_cannot_be_written_is_not_waited_for(open_worker: Open) -> None:
    workers = [open_worker() for _ in range(3)]
    unwritable = step("add")
    unwritable.actions = [object()]
    began = time.monotonic()
    for worker, request in zip(workers, [unwritable, step("add"), step("add")], strict=True):
        worker.submit(request, timeout=20, later=True)
    found = []
    for key in in_turn(dict(enumerate(workers)), {}):
        try:
            found.append((key, type(workers[key].gather())))
        except TypeError:
            found.append((key, TypeError))
    assert found == [(0, TypeError), (1, Stepped), (2, Stepped)]
    assert time.monotonic() - began < 10
    assert numbers(workers) == [7, 8, 8]


@pytest.mark.usefixtures("one_core")
def test_an_interrupt_while_a_request_is_sent_loses_no_action_silently(
    open_worker: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(pid: int, cores: set[int]) -> None:
        raise KeyboardInterrupt

    worker = open_worker()
    monkeypatch.setattr(os, "sched_setaffinity", interrupt)
    worker.submit(step("add"), later=True)
    with pytest.raises(KeyboardInterrupt):
        gathered({0: worker}, {})
    monkeypatch.undo()
    with pytest.raises(ServiceIsClosed):
        worker.submit(step("add"))
    assert wait_until(lambda: not is_running(worker.pid))


@pytest.mark.usefixtures("one_core")
def test_a_worker_that_could_not_be_placed_again_is_set_free_later(
    open_worker: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    everywhere = os.sched_getaffinity(os.getppid())
    worker, place = open_worker(), os.sched_setaffinity
    for refused in (False, True):
        if refused:
            worker.core += 1
            monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: place(pid, {10_000}))
        worker.submit(step("add"), later=True)
        assert gathered({0: worker}, {}) == [(0, Stepped)]
        monkeypatch.setattr(os, "sched_setaffinity", place)
    assert number(worker, "add") == 10
    with open(f"/proc/{worker.pid}/status") as status:
        allowed = next(line.split()[1] for line in status if line.startswith("Cpus_allowed:"))
    assert int(allowed.replace(",", ""), 16).bit_count() == len(everywhere)
