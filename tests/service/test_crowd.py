# SPDX-License-Identifier: MIT
from compiler_gym.service.crowd import Crowd


def wave(crowd: Crowd, size: int) -> list[tuple[bool, bool]]:
    """Make `size` requests at once and answer all; return who might look at each."""
    seen = []
    for number in range(size):
        crowd.enter(number)
        seen.append((crowd.client_may_look, crowd.worker_may_look))
    for number in range(size):
        crowd.leave(number)
    return seen


def test_one_environment_looks_on_both_sides() -> None:
    crowd = Crowd(cores=2)
    assert wave(crowd, 1) == [(True, True)]
    assert wave(crowd, 1) == [(True, True)]


def test_as_many_workers_as_cores_look_and_their_client_sleeps() -> None:
    crowd = Crowd(cores=2)
    wave(crowd, 2)
    assert wave(crowd, 2) == [(False, True)] * 2


def test_the_first_request_of_a_wave_knows_how_many_follow() -> None:
    crowd = Crowd(cores=2)
    wave(crowd, 8)
    assert wave(crowd, 8) == [(False, False)] * 8


def test_a_wave_is_forgotten_after_the_next() -> None:
    crowd = Crowd(cores=2)
    wave(crowd, 8)
    wave(crowd, 1)
    assert wave(crowd, 1) == [(True, True)]


def test_the_client_still_sleeps_while_the_last_of_a_wave_is_awaited() -> None:
    crowd = Crowd(cores=2)
    crowd.enter("a")
    crowd.enter("b")
    crowd.leave("a")
    assert not crowd.client_may_look


def test_leaving_twice_or_unasked_changes_nothing() -> None:
    crowd = Crowd(cores=2)
    wave(crowd, 8)
    crowd.leave("nobody")
    assert not crowd.client_may_look
    crowd.clear()
    assert crowd.client_may_look
