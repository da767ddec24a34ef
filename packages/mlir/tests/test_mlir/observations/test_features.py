# SPDX-License-Identifier: MIT
"""A row has the same width for every operation."""

from compiler_gym_mlir.observations import FEATURES
from compiler_gym_mlir.observations.features import WIDTH, compute_features, make_table
from test_mlir.schedules import MATMUL, scheduled


def test_rows_are_as_wide_as_the_space_says() -> None:
    program = scheduled(MATMUL)
    rows = [compute_features(o, program.limits(t), True) for t, o in program.operations.items()]
    assert {len(row) for row in make_table(rows, 16)} == {FEATURES} == {WIDTH}
    assert rows[1][1:4] == [5.044394119358453, 6.022367813028454, 4.087462841250339]
