# SPDX-License-Identifier: MIT
"""What is asked of a program's records."""

from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.program import (
    accesses,
    operations,
    operators,
    write_expression,
)
from compiler_gym_loop_tool.state.reading import parse_program


def test_an_access_says_how_far_a_step_goes() -> None:
    (statement,) = parse_program(describe("conv1d", "x=6,f=2,r=3,c=4")).statements
    inputs, weights = statement.reads
    assert [inputs.stride(dim) for dim in ("n", "x", "r", "c", "f")] == [32, 4, 4, 1, 0]
    assert not inputs.is_plain
    assert weights.is_plain


def test_an_expression_is_written_counted_and_walked() -> None:
    (statement,) = parse_program(describe("chain", "a=4")).statements
    assert write_expression(statement.value) == "max(((A[a] * B[a]) + C[a]), 0.0)"
    assert list(operators(statement.value)) == ["max", "add", "mul"]
    assert operations(statement.value) == statement.operations == 3
    assert [access.tensor for access in accesses(statement.value)] == ["A", "B", "C"]


def test_a_copy_counts_as_one_operation_an_element() -> None:
    assert parse_program(describe("transpose", "m=3,n=5")).flops == 15
