# SPDX-License-Identifier: MIT
"""The estimate falls where vectors replace scalars."""

from compiler_gym_mlir.observations.cost import static_cost
from test_mlir.schedules import MATMUL, scheduled


def test_vectors_cost_less_than_loops() -> None:
    naive = static_cost(scheduled(MATMUL).module)
    fast = static_cost(scheduled(MATMUL, "tile matmul0 8 32 4", "vectorize matmul0").module)
    assert 0 < fast < naive / 4
