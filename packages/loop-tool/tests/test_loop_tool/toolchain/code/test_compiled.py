# SPDX-License-Identifier: MIT
"""A compiled nest runs on arrays, leaves its inputs alone and is timed."""

import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym_loop_tool.jit import estimate_in_turns
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import random_inputs
from compiler_gym_loop_tool.state.tree import initial_tree
from compiler_gym_loop_tool.toolchain.code.compiled import compile_nest, nest_ir

TREE = initial_tree(parse_program(describe("sum", "m=5,k=37")))


def test_it_computes_and_changes_no_input() -> None:
    inputs = random_inputs(TREE.program)
    before = inputs["X"].copy()
    found = compile_nest(TREE).run(inputs)["Y"]
    np.testing.assert_allclose(found, before.sum(1), rtol=1e-5, atol=1e-5)
    assert np.array_equal(inputs["X"], before)


def test_arrays_of_another_shape_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"X must be an array of shape \(5, 37\)"):
        compile_nest(TREE).run({"X": np.zeros((5, 36), np.float32)})


def test_it_is_timed_and_its_ir_is_text() -> None:
    (estimate,) = estimate_in_turns([compile_nest(TREE).call], seconds=0.001)
    assert estimate.seconds > 0
    assert "define void @nest" in nest_ir(TREE)
