# SPDX-License-Identifier: MIT
"""Every observation of the table is computed, and nothing else."""

from compiler_gym_mlir.observations import OBSERVATION_SPACES
from compiler_gym_mlir.observations.compute import COMPUTE


def test_the_table_and_the_computations_are_the_same() -> None:
    assert [space.name for space in OBSERVATION_SPACES] == list(COMPUTE)
