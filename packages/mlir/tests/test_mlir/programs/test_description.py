# SPDX-License-Identifier: MIT
"""A line becomes a payload that computes what it says."""

import numpy as np
import pytest

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_mlir.programs.description import describe_payload
from compiler_gym_mlir.toolchain.reference import evaluate

A, B = np.random.default_rng(1).standard_normal((2, 4, 5)).astype("float32")


def test_a_product_and_a_difference() -> None:
    product = describe_payload("c[i,j] += a[i,k] * b[j,k]; i=4, j=4, k=5")
    assert np.allclose(evaluate(product, [A, B])[0], A @ B.T, atol=1e-5)
    difference = describe_payload("c[i,j] = a[i,j] - b[i,j]; i=4, j=5")
    assert np.allclose(evaluate(difference, [A, B])[0], A - B)


def test_a_convolution_of_one_dimension() -> None:
    source = describe_payload("y[i] += x[i+k] * w[k]; i=3, k=3")
    assert np.allclose(evaluate(source, [A[0], B[0, :3]])[0], np.correlate(A[0], B[0, :3]))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("nonsense", "cannot read"),
        ("c[i] = a[i] ^ b[i]; i=2", "cannot read"),
        ("c[i] = a[j]; i=2", "no length"),
        ("c[i] = a[i,k]; i=2, k=2", "use = if"),
        ("c[i] = a[i]; i=x", "lengths"),
    ],
)
def test_an_unreadable_description_is_reported(line: str, why: str) -> None:
    with pytest.raises(BenchmarkInitError, match=why):
        describe_payload(line)
