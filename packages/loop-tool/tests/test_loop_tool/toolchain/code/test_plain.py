# SPDX-License-Identifier: MIT
"""The shortest code computes the same, with tails in tails."""

import numpy as np

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.jit import compile_ir
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree
from compiler_gym_loop_tool.toolchain.code.plain import write_plain
from compiler_gym_loop_tool.toolchain.code.plan import make_plan
from compiler_gym_loop_tool.toolchain.code.text import Function


def test_tails_in_tails_are_run_once() -> None:
    tree = initial_tree(parse_program(describe("transpose", "m=23,n=7")))
    tree = changes.split(changes.split(tree, (0,), 9), (0, 0), 4)
    function = Function("define void @f(ptr %buffers)")
    names = [
        function.set(f"load ptr, ptr {function.set(f'getelementptr ptr, ptr %buffers, i64 {at}')}")
        for at in range(2)
    ]
    plan = make_plan(tree, 4)
    write_plain(plan, function, dict(zip(tree.program.tensors, names, strict=True)))
    function.add("ret void")
    x = np.arange(23 * 7, dtype=np.float32).reshape(23, 7)
    y = np.zeros((7, 23), np.float32)
    compile_ir(str(function)).on("f", [x, y]).run()
    assert np.array_equal(y, x.T)
