# SPDX-License-Identifier: MIT
"""What is written is IR that compiles and runs."""

import numpy as np

from compiler_gym_loop_tool.jit import compile_ir
from compiler_gym_loop_tool.toolchain.code.text import Function, vector


def test_one_lane_is_not_a_vector() -> None:
    assert (vector(1), vector(8), vector(4, "i1")) == ("float", "<8 x float>", "<4 x i1>")


def test_a_loop_counts_from_its_first_to_its_last() -> None:
    function = Function("define void @f(ptr %buffers)")
    out = function.set("load ptr, ptr %buffers")
    with function.loop("7", "2") as counter:
        at = function.set(f"getelementptr float, ptr {out}, i64 {counter}")
        function.add(f"store float 1.0, ptr {at}")
    function.add("ret void")
    found = np.zeros(9, np.float32)
    compile_ir(str(function)).on("f", [found]).run()
    assert found.tolist() == [0, 0, 1, 1, 1, 1, 1, 0, 0]
