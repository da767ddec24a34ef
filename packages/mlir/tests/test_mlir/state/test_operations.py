# SPDX-License-Identifier: MIT
"""Loops, accesses and arithmetic are read from the IR."""

from compiler_gym_mlir.programs.builders import build
from test_mlir.schedules import MATMUL, scheduled


def test_a_product_has_three_loops() -> None:
    product = scheduled(MATMUL).operations["matmul0"]
    assert product.bounds == (32, 64, 16)
    assert product.iterators == ("parallel", "parallel", "reduction")
    assert product.inputs[1].matrix == ((0, 0, 1), (0, 1, 0))
    assert product.flops == 2 * 32 * 64 * 16


def test_a_strided_access_has_its_factor() -> None:
    conv = scheduled(build("conv2d_nchw", (1, 2, 9, 9, 4, 3, 2))).operations
    assert conv["conv_2d_nchw_fchw0"].inputs[0].matrix[2] == (0, 0, 2, 0, 0, 1, 0)


def test_a_tile_that_does_not_divide_is_dynamic() -> None:
    product = scheduled(MATMUL, "tile matmul0 12 0 0").operations["matmul0"]
    assert product.is_dynamic
    assert product.depth == 1
