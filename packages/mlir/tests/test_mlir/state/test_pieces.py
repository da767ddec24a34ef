# SPDX-License-Identifier: MIT
"""A move that makes no sense is refused before MLIR sees it."""

import pytest

from compiler_gym_mlir.actions.moves import parse_move
from compiler_gym_mlir.programs.builders import build
from test_mlir.schedules import MATMUL, scheduled


@pytest.mark.parametrize(
    ("move", "why"),
    [
        ("tile matmul0 8 8", "needs 3 sizes"),
        ("tile matmul0 0 0 0", "nothing to split"),
        ("tile matmul0 64 0 0", "fewer than 64"),
        ("tile matmul0 32 64 16", "nothing would change"),
        ("parallel matmul0 8 8 8", "reduction"),
        ("interchange matmul0 0 1 2", "already have this order"),
        ("interchange matmul0 0 0 2", "must be an order"),
        ("unroll matmul0 4", "no loop surrounds"),
        ("promote matmul0 5 0", "operand of 0 to 1"),
        ("promote matmul0 0 2", "only 0 loops surround"),
        ("vectorize matmul0", "tile it first"),
        ("im2col matmul0", "not a two-dimensional convolution"),
        ("decompose matmul0", "neither a softmax"),
        ("pad matmul0 8 8 8", "already multiples of these"),
        ("promote fill0 0 0", "a scalar"),
        ("tile other0 8", "no operation other0"),
    ],
)
def test_the_reason_is_reported(move: str, why: str) -> None:
    assert why in str(scheduled(MATMUL).why_not(parse_move(move)))


@pytest.mark.parametrize(
    ("move", "why"),
    [
        ("generalize softmax0", "decompose it first"),
        ("tile softmax0 0 4", "reduction of the softmax"),
        ("tile softmax0 4 0", "None"),
        ("decompose softmax0", "None"),
    ],
)
def test_a_softmax_is_only_split_along_its_rows(move: str, why: str) -> None:
    assert why in str(scheduled(build("softmax", (8, 16))).why_not(parse_move(move)))


def test_a_window_is_decomposed_where_a_side_of_it_is_one() -> None:
    source = build("conv2d_nhwc", (1, 8, 8, 4, 8, 3, 1))
    move = parse_move("decompose conv_2d_nhwc_hwcf0")
    assert "tile both to 1" in str(scheduled(source).why_not(move))
    assert "decompose it" in str(
        scheduled(source).why_not(parse_move("vectorize conv_2d_nhwc_hwcf0"))
    )
    row = scheduled(source, "tile conv_2d_nhwc_hwcf0 0 1 0 0 1 0 0")
    assert row.why_not(move) is None
    assert row.apply(move, "")


def test_vectors_that_would_take_minutes_are_refused() -> None:
    program = scheduled(build("matmul", (64, 64, 64)), "tile matmul0 0 1 0")
    assert "short vectors" in str(program.why_not(parse_move("vectorize matmul0")))
