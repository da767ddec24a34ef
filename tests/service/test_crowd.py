# SPDX-License-Identifier: MIT
from compiler_gym.service.crowd import Crowd


def wave(crowd: Crowd, size: int) -> list[bool]:
    """Make `size` requests at once and answer all; return which workers might look."""
    seen = []
    for number in range(size):
        crowd.enter(number)
        seen.append(crowd.worker_may_look)
    for number in range(size):
        crowd.leave(number)
    return seen


def test_as_many_workers_as_cores_look() -> None:
    crowd = Crowd(cores=2)
    assert wave(crowd, 1) == wave(crowd, 1) == [True]
    wave(crowd, 2)
    assert wave(crowd, 2) == [True] * 2


def test_the_first_request_of_a_wave_knows_how_many_follow() -> None:
    crowd = Crowd(cores=2)
    wave(crowd, 8)
    assert wave(crowd, 8) == [False] * 8


def test_a_wave_is_forgotten_after_the_next() -> None:
    crowd = Crowd(cores=2)
    wave(crowd, 8)
    wave(crowd, 1)
    assert wave(crowd, 1) == [True]


def test_a_client_looks_where_fewer_are_busy_than_there_are_cores() -> None:
    crowd = Crowd(cores=2)
    crowd.enter("a")
    assert crowd.client_may_look
    crowd.enter("b")
    assert not crowd.client_may_look
    crowd.leave("a")
    assert crowd.client_may_look


def test_leaving_twice_or_unasked_changes_nothing() -> None:
    crowd = Crowd(cores=1)
    crowd.enter("a")
    crowd.leave("nobody")
    assert not crowd.client_may_look
    crowd.leave("a")
    crowd.leave("a")
    crowd.enter("b")
    assert not crowd.client_may_look
    crowd.clear()
    assert crowd.client_may_look
