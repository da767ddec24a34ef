# SPDX-License-Identifier: MIT
"""Each operation computes what numpy does, in one lane and in several."""

import numpy as np
import pytest

from compiler_gym_loop_tool.jit import compile_ir
from compiler_gym_loop_tool.toolchain.code.arithmetic import (
    DECLARATIONS,
    number,
    operate,
    reduce_lanes,
)
from compiler_gym_loop_tool.toolchain.code.text import Function, vector

OPERATIONS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "neg": np.negative,
}


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("op", OPERATIONS)
def test_an_operation_is_numpys(op: str, width: int) -> None:
    count = 1 if op in ("exp", "sqrt", "neg") else 2
    function = Function("define void @f(ptr %buffers)")
    kind = vector(width)
    pointers = [
        function.set(f"load ptr, ptr {function.set(f'getelementptr ptr, ptr %buffers, i64 {at}')}")
        for at in range(3)
    ]
    values = [function.set(f"load {kind}, ptr {pointer}, align 4") for pointer in pointers[:count]]
    result = operate(function, op, values, width)
    function.add(f"store {kind} {result}, ptr {pointers[2]}, align 4")
    function.add("ret void")
    draw = np.random.default_rng(1)
    inputs = [draw.uniform(0.5, 3, width).astype(np.float32) for _ in range(2)]
    out = np.zeros(width, np.float32)
    compile_ir(DECLARATIONS + str(function)).on("f", [*inputs, out]).run()
    np.testing.assert_allclose(out, OPERATIONS[op](*inputs[:count]), rtol=1e-6)


def test_a_number_keeps_its_bits() -> None:
    assert number(1.0) == "0x3FF0000000000000"
    assert number(0.1) == f"0x{np.float64(np.float32(0.1)).view(np.uint64):016X}"


@pytest.mark.parametrize(("reduction", "wanted"), [("sum", 36.0), ("max", 8.0)])
def test_lanes_become_one_number(reduction: str, wanted: float) -> None:
    function = Function("define void @f(ptr %buffers)")
    data = function.set("load ptr, ptr %buffers")
    value = function.set(f"load <8 x float>, ptr {data}, align 4")
    total = reduce_lanes(function, reduction, value, 8)
    function.add(f"store float {total}, ptr {data}")
    function.add("ret void")
    array = np.arange(1, 9, dtype=np.float32)
    compile_ir(DECLARATIONS + str(function)).on("f", [array]).run()
    assert array[0] == wanted
