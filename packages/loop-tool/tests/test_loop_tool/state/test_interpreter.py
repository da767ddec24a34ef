# SPDX-License-Identifier: MIT
"""The interpreter runs what a tree says; `test_changes` compares it with numpy at length."""

import numpy as np

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.interpreter import interpret, start_values
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree


def test_tails_are_run_once() -> None:
    tree = initial_tree(parse_program(describe("sum", "m=1,k=7")))
    tree = changes.split(changes.split(tree, (0, 0), 3), (0, 0, 0), 2)
    assert [loop.tail for _, loop in tree.loops()] == [0, 1, 1, 0]
    ones = {"X": np.ones((1, 7), np.float32)}
    assert interpret(tree, ones)["Y"].tolist() == [7.0]


def test_reductions_begin_with_what_changes_nothing() -> None:
    values = start_values(parse_program(describe("softmax", "m=2,n=3")))
    assert values["_h"].tolist() == [-np.inf, -np.inf]
    assert values["_t"].tolist() == [0.0, 0.0]
    assert np.isnan(values["Y"]).all()
