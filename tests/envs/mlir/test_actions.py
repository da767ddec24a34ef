# SPDX-License-Identifier: MIT
"""The names of CompilerGym 0.2.5 are there, and the list has no name twice."""

from compiler_gym.envs.mlir.actions import ACTION_SPACES, ENTRIES


def test_the_spaces_are_named() -> None:
    names = [space.name for space in ACTION_SPACES]
    assert names[0] == "Schedule"
    assert "MatrixMultiplication" in names
    assert len(set(ENTRIES)) == len(ENTRIES)
