# SPDX-License-Identifier: MIT
from compiler_gym.service.busy_workers import BusyWorkers


def wave(busy_workers: BusyWorkers, size: int) -> list[bool]:
    """Make `size` requests at once and answer all; return which workers might look."""
    seen: list[bool] = []
    for number in range(size):
        busy_workers.enter(number)
        seen.append(busy_workers.worker_may_look)
    for number in range(size):
        busy_workers.leave(number)
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
