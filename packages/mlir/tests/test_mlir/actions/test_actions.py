# SPDX-License-Identifier: MIT
"""The names of CompilerGym 0.2.5 are there, and the list has no name twice."""

from compiler_gym.search.moves import find_known_sequences
from compiler_gym_mlir.actions import ACTION_SPACES, ENTRIES


def test_the_spaces_are_named() -> None:
    names = [space.name for space in ACTION_SPACES]
    assert names[0] == "Schedule"
    assert "MatrixMultiplication" in names
    assert len(set(ENTRIES)) == len(ENTRIES)


def test_a_search_begins_at_blocks_that_fit_registers() -> None:
    starts = find_known_sequences(ENTRIES)
    first = [ENTRIES[action] for action in starts[0]]
    assert first == ["block-8x32x4", "vectorize-operation"]
