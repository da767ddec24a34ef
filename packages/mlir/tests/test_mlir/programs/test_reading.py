# SPDX-License-Identifier: MIT
"""What is no payload of ours is refused, with the reason."""

import pytest

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_mlir.programs.reading import change_type, read_payload
from test_mlir.schedules import MATMUL

F = "func.func @f(%a: tensor<{0}>) -> tensor<{0}> {{ return %a : tensor<{0}> }}"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("module {", "does not parse"),
        ("module {}", "must be one func.func"),
        ("func.func private @f(tensor<2xf32>) -> tensor<2xf32>", "no body"),
        (F.format("?xf32"), "dynamic shape"),
        (F.format("2xf16"), "f32, f64"),
        (F.format("*xf32"), "ranked tensors"),
        ("func.func @f() { return }", "returns nothing"),
    ],
)
def test_bad_payloads_are_refused(source: str, why: str) -> None:
    with pytest.raises(BenchmarkInitError, match=why):
        read_payload(source, "it")


def test_the_type_of_a_payload_can_be_changed() -> None:
    assert "f32" not in change_type(MATMUL, "f64")
    with pytest.raises(BenchmarkInitError, match="type=f16"):
        change_type(MATMUL, "f16")
