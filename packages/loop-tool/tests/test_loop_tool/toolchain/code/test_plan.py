# SPDX-License-Identifier: MIT
"""A plan covers what a tree covers, in vectors that fit."""

import pytest

from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree
from compiler_gym_loop_tool.toolchain.code.plan import chunks, make_plan


@pytest.mark.parametrize("extent", [0, 1, 7, 16, 23, 64])
def test_vectors_cover_every_element_once(extent: int) -> None:
    covered = [at + lane for at, width in chunks(extent, 16) for lane in range(width)]
    assert covered == list(range(extent))


def test_a_plan_has_every_statement() -> None:
    tree = initial_tree(parse_program(describe("softmax", "m=3,n=40")))
    plan = make_plan(tree, 16)
    leaves = [leaf for root in plan.roots if not isinstance(root, int) for leaf in root.leaves]
    assert leaves == [0, 1, 2, 3]
