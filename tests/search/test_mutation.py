# SPDX-License-Identifier: MIT
import random

from compiler_gym.search.mutation import SequenceMutator


def test_neighbours_hold_known_actions_only_and_are_not_too_long() -> None:
    mutator = SequenceMutator(range(10), random.Random(0), longest=12)
    sequence = [1, 2, 3]
    for _ in range(500):
        changed = mutator.neighbour(sequence, [[4, 5], [], [6] * 11])
        assert set(changed) <= set(range(10))
        assert len(changed) <= 12
    assert sequence == [1, 2, 3]


def test_actions_that_pay_off_are_proposed_more_often() -> None:
    mutator = SequenceMutator(range(10), random.Random(0), longest=12)
    for _ in range(20):
        mutator.learn([3, 4], [3], gain=True)
        mutator.learn([5], [], gain=False)
    proposed = [mutator.move() for _ in range(1000)]
    assert proposed.count(3) > 3 * proposed.count(4)
    assert proposed.count(3) > 10 * proposed.count(5) > 0


def test_actions_that_are_left_out_are_never_proposed() -> None:
    mutator = SequenceMutator([2, 4, 6], random.Random(0), longest=12)
    mutator.learn([3, 4], [3, 4], gain=True)
    assert {mutator.move() for _ in range(200)} == {2, 4, 6}


def test_an_empty_sequence_has_neighbours() -> None:
    mutator = SequenceMutator(range(3), random.Random(0), longest=5)
    assert any(mutator.neighbour([], [[]]) for _ in range(50))


def test_new_sequences_are_not_too_long_either() -> None:
    mutator = SequenceMutator(range(3), random.Random(0), longest=5)
    assert max(len(mutator.random()) for _ in range(50)) == 5


def test_actions_before_the_start_of_a_change_stay() -> None:
    mutator = SequenceMutator(range(10), random.Random(0), longest=12)
    sequence = [1, 2, 3, 4]
    changed = [mutator.neighbour(sequence, [[4, 5]], 3) for _ in range(100)]
    assert all(one[:3] == [1, 2, 3] for one in changed)
    assert sum(one == sequence for one in changed) <= 5


def test_changes_begin_near_the_end_and_sometimes_at_the_beginning() -> None:
    mutator = SequenceMutator(range(10), random.Random(0), longest=12)
    places = [mutator.place(20) for _ in range(2000)]
    assert {0, 10, 20} <= set(places) <= set(range(21))
    assert 15 < sum(places) / len(places) < 18
