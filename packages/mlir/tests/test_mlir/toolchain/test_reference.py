# SPDX-License-Identifier: MIT
"""The reference agrees with numpy written by hand, and says what it does not know."""

import numpy as np
import pytest

from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.toolchain.reference import (
    UnknownOperationError,
    evaluate,
    evaluate_quickly,
    worst_error,
)

A, B = np.random.default_rng(1).standard_normal((2, 4, 6)).astype("float32")


def test_kernels_are_what_they_are_called() -> None:
    assert np.allclose(evaluate(build("matmul", (4, 4, 6)), [A, B.T])[0], A @ B.T, atol=1e-5)
    assert np.allclose(evaluate(build("add", (4, 6)), [A, B])[0], A + B)
    assert np.allclose(evaluate(build("relu", (4, 6)), [A])[0], np.maximum(A, 0))
    assert np.allclose(evaluate(build("reduce", (4, 6)), [A])[0], A.sum(1), atol=1e-5)
    soft = np.exp(A) / np.exp(A).sum(1, keepdims=True)
    assert np.allclose(evaluate(build("softmax", (4, 6)), [A])[0], soft, atol=1e-5)


def test_a_pool_is_the_largest_of_each_window() -> None:
    image = A.reshape(1, 1, 4, 6)
    wanted = image.reshape(1, 1, 2, 2, 3, 2).max((3, 5))
    assert np.allclose(evaluate(build("maxpool", (1, 1, 4, 6, 2, 2)), [image])[0], wanted)


def test_an_unknown_operation_is_reported() -> None:
    source = (
        "func.func @f(%a: tensor<4xf32>) -> tensor<2xf32> {\n"
        "%0 = tensor.extract_slice %a[0] [2] [1] : tensor<4xf32> to tensor<2xf32>\n"
        "return %0 : tensor<2xf32> }"
    )
    with pytest.raises(UnknownOperationError, match=r"tensor\.extract_slice"):
        evaluate(source, [A[0]])


def test_numpy_has_matrix_products_and_nothing_else() -> None:
    assert evaluate_quickly(build("matmul", (4, 4, 6)), [A, B.T]) is not None
    assert evaluate_quickly(build("add", (4, 6)), [A, B]) is None


def test_an_error_is_relative_and_never_hides_nan() -> None:
    assert worst_error(np.array([1.0, 2.0]), np.array([1.0, 4.0])) == 0.5
    assert worst_error(np.array([np.nan]), np.array([1.0])) == float("inf")
