# SPDX-License-Identifier: MIT
"""Arguments are aligned, random inputs are the same every time, and times are positive."""

import numpy as np

from compiler_gym_mlir.toolchain.lowering import compile_module
from compiler_gym_mlir.toolchain.running import (
    Tensor,
    align_array,
    measure_times,
    random_inputs,
)
from test_mlir.schedules import MATMUL


def test_arrays_are_aligned_copies() -> None:
    array = np.arange(5, dtype="float32")
    assert align_array(array).ctypes.data % 64 == 0
    assert np.array_equal(align_array(array), array)


def test_inputs_follow_the_seed_and_the_type() -> None:
    tensors = [Tensor((3, 2), "float32"), Tensor((4,), "int32")]
    first, second = random_inputs(tensors, 1), random_inputs(tensors, 1)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert [one.dtype.name for one in first] == ["float32", "int32"]


def test_a_run_leaves_inputs_alone_and_takes_time() -> None:
    kernel = compile_module(MATMUL)
    inputs = random_inputs(kernel.inputs)
    copies = [one.copy() for one in inputs]
    times = measure_times(kernel.bind(inputs), 3, 1)
    assert len(times) == 3
    assert min(times) > 0
    assert all(np.array_equal(a, b) for a, b in zip(inputs, copies, strict=True))
