# SPDX-License-Identifier: MIT
"""Memory holds what was used last, within its bounds."""

from compiler_gym.service.caching.memory import Memory, Transition, estimate_size

STEP = Transition(b"2", False, False)


def test_stored_transitions_are_found() -> None:
    memory = Memory(1 << 20)
    memory.add_transition(b"1", 7, STEP)
    memory.add_observation(b"1", "Size", 12)
    assert memory.transition(b"1", 7) == STEP
    assert memory.transition(b"1", 8) is None
    assert memory.transition(b"2", 7) is None
    assert memory.observations(b"1") == {"Size": 12}
    assert memory.observations(b"2") == {}


def test_the_least_recently_used_entry_is_evicted() -> None:
    memory = Memory(4000)
    for number in range(50):
        memory.add_transition(bytes([number]), 0, STEP)
        memory.transition(bytes([0]), 0)
        assert memory.size <= 4000
    assert memory.transition(bytes([0]), 0) == STEP
    assert memory.transition(bytes([49]), 0) == STEP
    assert memory.transition(bytes([1]), 0) is None
    assert 1 < len(memory) < 10


def test_a_large_observation_counts_with_its_size() -> None:
    memory = Memory(10_000)
    memory.add_observation(b"1", "Ir", "x" * 9000)
    memory.add_observation(b"2", "Ir", "x" * 9000)
    assert memory.observations(b"1") == {}
    memory.add_observation(b"3", "Ir", "x" * 20_000)
    assert len(memory) == 0
    assert memory.size == 0


def test_nested_values_have_a_size() -> None:
    assert estimate_size({"a": ["x" * 500]}) > 500
    assert estimate_size((1, 2)) > estimate_size(1)
