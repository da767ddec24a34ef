# SPDX-License-Identifier: MIT
"""Every kernel is a payload that can be read, and bad sizes are refused."""

import pytest

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_mlir.programs.builders import KERNELS, build
from test_mlir.schedules import scheduled


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_every_kernel_can_be_read(name: str, element: str) -> None:
    program = scheduled(build(name, KERNELS[name].default, element))
    assert program.operations
    assert element in program.payload


@pytest.mark.parametrize(
    ("name", "sizes", "element", "why"),
    [
        ("matmull", (1, 2, 3), "f32", "matmul"),
        ("matmul", (1, 2), "f32", "3 sizes"),
        ("matmul", (1, 0, 3), "f32", "at least 1"),
        ("relu", (8,), "f16", "type=f32"),
        ("add", (100000, 100000), "f32", "elements"),
        ("conv2d_nchw", (1, 1, 2, 2, 1, 3, 1), "f32", "smaller than its filter"),
    ],
)
def test_bad_requests_are_refused(
    name: str, sizes: tuple[int, ...], element: str, why: str
) -> None:
    with pytest.raises(BenchmarkInitError, match=why):
        build(name, sizes, element)
