# SPDX-License-Identifier: MIT
"""What is known of a program is found again by whoever has the same one, for a while."""

import numpy as np

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.program import Program
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import Loop, Tree, initial_tree
from compiler_gym_loop_tool.toolchain import proven as module
from compiler_gym_loop_tool.toolchain.code.compiled import compile_nest
from compiler_gym_loop_tool.toolchain.proven import Proven, proven


def program_of(kind: str, words: str) -> Program:
    return parse_program(describe(kind, words))


def test_equal_programs_share_what_is_known() -> None:
    first = proven(program_of("sum", "m=3,k=5"))
    assert proven(program_of("sum", "m=3,k=5")) is first
    for other in (program_of("sum", "m=3,k=6"), program_of("row_max", "m=3,k=5")):
        assert proven(other) is not first
    np.testing.assert_allclose(first.expected["Y"], first.inputs["X"].sum(1), rtol=1e-6, atol=1e-6)
    assert first.expected["Y"] is first.expected["Y"]


def test_a_large_program_is_known_to_its_session_alone() -> None:
    large = program_of("add", "a=4000000")
    assert proven(large) is not proven(large)


def test_programs_are_forgotten_in_the_order_of_their_last_use() -> None:
    kept = [proven(program_of("sum", f"m=2,k={size}")) for size in range(2, 2 + module._PROGRAMS)]  # pyright: ignore[reportPrivateUsage]  # no public name tells
    assert proven(program_of("sum", "m=2,k=2")) is kept[0]
    proven(program_of("sum", "m=2,k=100"))
    assert proven(program_of("sum", "m=2,k=2")) is kept[0]
    assert proven(program_of("sum", "m=2,k=3")) is not kept[1]


def test_nests_are_found_by_their_tree_and_forgotten_in_order() -> None:
    tree = initial_tree(program_of("add", "a=64"))
    known = Proven(tree.program)
    nest = compile_nest(tree)
    assert known.get(tree) is None
    known.add(tree, nest)
    assert known.get(initial_tree(program_of("add", "a=64"))) is nest
    other = changes.split(tree, (0,), 4)
    assert known.get(other) is None
    for number in range(module._NESTS):  # pyright: ignore[reportPrivateUsage]  # no public name tells
        known.add(Tree(tree.program, (Loop("a", 64, number + 2, (0,)),)), nest)
        known.get(other)
    assert known.get(Tree(tree.program, (Loop("a", 64, 2, (0,)),))) is nest
    assert known.get(tree) is None
