# SPDX-License-Identifier: MIT
"""Every kind of schedule is lowered, and computes what numpy does."""

import pytest

from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.toolchain.lowering import (
    LEVEL,
    bufferize,
    compile_module,
    compile_shortened,
    lower,
)
from compiler_gym_mlir.toolchain.reference import evaluate, worst_error
from compiler_gym_mlir.toolchain.running import random_inputs
from test_mlir.schedules import MATMUL, scheduled

CONV = build("conv2d_nhwc", (1, 12, 12, 4, 8, 3, 1))


@pytest.mark.parametrize(
    ("source", "moves"),
    [
        (MATMUL, ()),
        (MATMUL, ("tile matmul0 8 32 4", "vectorize matmul0")),
        (MATMUL, ("tile matmul0 6 48 4", "vectorize matmul0")),
        (MATMUL, ("tile matmul0 6 16 1", "vectorize matmul0")),
        (MATMUL, ("tile matmul0 6 1 1", "vectorize matmul0")),
        (MATMUL, ("tile matmul0 12 16 4", "pad matmul0 12 16 4", "vectorize matmul0")),
        (MATMUL, ("tile matmul0 8 16 8", "promote matmul0 1 2", "vectorize matmul0")),
        (MATMUL, ("pack matmul0 8 16 4", "tile matmul0 1 1 1 0 0 0", "vectorize matmul0")),
        (MATMUL, ("parallel matmul0 8 32 0", "tile matmul0 0 0 4", "unroll matmul0 2")),
        (MATMUL, ("interchange matmul0 2 0 1", "tile matmul0 4 4 4", "hoist")),
        (CONV, ("tile conv_2d_nhwc_hwcf0 1 1 5 8 1 3 4", "decompose conv_2d_nhwc_hwcf0")),
        (CONV, ("im2col conv_2d_nhwc_hwcf0",)),
        (build("softmax", (8, 16)), ("decompose softmax0",)),
        (build("mlp", (8, 16, 8, 8)), ("fuse matmul1 4 4 0",)),
    ],
)
def test_a_schedule_computes_what_numpy_does(source: str, moves: tuple[str, ...]) -> None:
    program = scheduled(source, *moves)
    kernel = compile_module(program.text)
    inputs = random_inputs(kernel.inputs)
    call = kernel.bind(inputs)
    call()
    assert worst_error(call.outputs[0], evaluate(program.payload, inputs)[0]) < 1e-5


def test_an_equal_module_is_compiled_once() -> None:
    assert compile_module(MATMUL) is compile_module(MATMUL)
    assert compile_module(MATMUL, LEVEL + 1) is not compile_module(MATMUL)


def test_plain_code_keeps_the_same_share_of_every_nest() -> None:
    kernel, factor = compile_shortened(MATMUL, 32 * 64 * 16 // 4)
    assert 4 <= factor < 5  # rounds are whole
    call = kernel.bind(random_inputs(kernel.inputs))
    call()
    assert call.outputs[0][:6].all()
    assert not call.outputs[0][8:].any()
    assert compile_shortened(MATMUL, 10**9)[1] == 1
    assert compile_shortened(CONV, 100)[1] > 5


def test_the_way_down_ends_in_the_dialect_of_llvm() -> None:
    assert "memref" in str(bufferize(MATMUL))
    assert "linalg" not in (text := str(lower(MATMUL)))
    assert "llvm.func" in text
