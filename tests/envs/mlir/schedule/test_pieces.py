# SPDX-License-Identifier: MIT
"""A move that makes no sense is refused before MLIR sees it."""

import pytest

from compiler_gym.envs.mlir.schedule.moves import parse_move
from envs.mlir.schedules import MATMUL, scheduled


@pytest.mark.parametrize(
    ("move", "why"),
    [
        ("tile matmul0 8 8", "expected 3 sizes"),
        ("tile matmul0 0 0 0", "nothing to split"),
        ("tile matmul0 64 0 0", "fewer than 64"),
        ("tile matmul0 32 64 16", "nothing would change"),
        ("parallel matmul0 8 8 8", "reduction"),
        ("interchange matmul0 0 1 2", "the order that they have"),
        ("interchange matmul0 0 0 2", "expected an order"),
        ("unroll matmul0 4", "no loop around"),
        ("promote matmul0 5 0", "operand of 0 to 1"),
        ("promote matmul0 0 2", "0 loops around"),
        ("vectorize matmul0", "tile it first"),
        ("im2col matmul0", "no two-dimensional convolution"),
        ("tile other0 8", "no operation other0"),
    ],
)
def test_the_reason_is_said(move: str, why: str) -> None:
    assert why in str(scheduled(MATMUL).why_not(parse_move(move)))
