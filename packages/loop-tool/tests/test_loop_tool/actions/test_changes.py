# SPDX-License-Identifier: MIT
"""Whatever is done to a tree, it computes the same; what has no meaning does nothing."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.state.descriptions import KINDS, describe
from compiler_gym_loop_tool.state.interpreter import interpret
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import compare, random_inputs, reference_outputs
from compiler_gym_loop_tool.state.tree import Loop, Path, Tree, initial_tree

MOVES: tuple[Callable[[Tree, Path], Tree], ...] = (
    lambda tree, path: changes.split(tree, path, 2),
    lambda tree, path: changes.split(tree, path, 4),
    changes.divide,
    changes.merge,
    changes.fuse,
    changes.swap_up,
    changes.swap_down,
    changes.toggle_unroll,
    changes.toggle_vectorise,
    changes.toggle_parallel,
    lambda tree, path: changes.pack(tree, path, 0),
    lambda tree, path: changes.pack(tree, path, 1),
    lambda tree, path: changes.resize(tree, path, 1),
    lambda tree, path: changes.resize(tree, path, -1),
)


def small(kind: str, choose: random.Random) -> Tree:
    sizes = {dim: choose.randrange(1, 7) for dim in KINDS[kind].sizes}
    words = ",".join(f"{dim}={size}" for dim, size in sizes.items())
    return initial_tree(parse_program(describe(kind, words)))


def shaken(tree: Tree, choose: random.Random, moves: int) -> Tree:
    for _ in range(moves):
        tree = choose.choice(MOVES)(tree, choose.choice(tree.loops())[0])
    return tree


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_tree_computes_what_numpy_does(kind: str) -> None:
    choose = random.Random(kind)
    for round_ in range(4):
        tree = small(kind, choose)
        program = tree.program
        inputs = random_inputs(program, round_)
        expected = reference_outputs(program, inputs)
        for moves in (0, 6, 20):
            tree = shaken(tree, choose, moves)
            assert changes.is_lawful(tree)
            assert tree == tree.settle()
            assert compare(program, expected, interpret(tree, inputs)) == (), str(tree)


def test_a_wrong_result_is_reported() -> None:
    program = parse_program(describe("matmul", "m=5,n=6,k=7"))
    inputs = random_inputs(program)
    expected = reference_outputs(program, inputs)
    found = {"C": expected["C"].astype(np.float32)}
    assert compare(program, expected, found) == ()
    found["C"][2, 3] += 1e-3
    (mismatch,) = compare(program, expected, found)
    assert (mismatch.tensor, mismatch.place, mismatch.count) == ("C", (2, 3), 1)


def add(size: int, splits: int = 3) -> Tree:
    return initial_tree(parse_program(f"splits {splits}\n{describe('add', f'a={size}')}"))


def sizes(tree: Tree) -> list[tuple[int, int]]:
    return [(loop.size, loop.tail) for _, loop in tree.loops()]


def test_resizing_is_the_arithmetic_of_compiler_gym_0_2_5() -> None:
    """The example that its documentation gives, step by step."""
    tree = add(1024)
    assert sizes(tree) == [(1024, 0), (1, 0), (1, 0)]
    second, third = (0, 0), (0, 0, 0)
    expected = (
        (second, 1, [(512, 0), (2, 0), (1, 0)]),
        (second, 1, [(341, 1), (3, 0), (1, 0)]),
        (second, 1, [(256, 0), (4, 0), (1, 0)]),
        (third, 1, [(256, 0), (2, 0), (2, 0)]),
        (third, 1, [(256, 0), (1, 1), (3, 0)]),
        (second, -1, [(341, 1), (1, 0), (3, 0)]),
        (third, -1, [(341, 1), (1, 1), (2, 0)]),
        (second, -1, [(512, 0), (1, 0), (2, 0)]),
    )
    for path, more, wanted in expected:
        tree = changes.resize(tree, path, more)
        assert sizes(tree) == wanted


def test_resizing_keeps_the_number_of_elements() -> None:
    choose = random.Random(3)
    for size in (1, 2, 7, 1000, 8191):
        tree = add(size, splits=4)
        for _ in range(200):
            path, _ = choose.choice(tree.loops())
            tree = changes.resize(tree, path, choose.choice((1, -1)))
            covered = 1
            for x, y in reversed(sizes(tree)):
                covered = x * covered + y
            assert covered == size


def test_the_outermost_loop_cannot_be_resized() -> None:
    tree = add(64)
    assert changes.resize(tree, (0,), 1) is tree


def matmul() -> Tree:
    return initial_tree(parse_program(describe("matmul", "m=20,n=24,k=28")))


def test_changes_without_meaning_return_the_same_tree() -> None:
    tree = matmul()
    m, n, k = (0,), (0, 0), (0, 0, 0)
    assert changes.split(tree, m, 20) is tree
    assert changes.split(tree, m, 32) is tree
    assert changes.merge(tree, m) is tree
    assert changes.fuse(tree, m) is tree
    assert changes.swap_up(tree, m) is tree
    assert changes.swap_down(tree, k) is tree
    assert changes.toggle_vectorise(tree, n) is tree
    assert changes.toggle_parallel(tree, k) is tree
    assert changes.pack(tree, k, 0) is tree
    assert changes.pack(tree, m, 2) is tree


def test_a_split_leaves_a_tail_and_a_merge_takes_it_back() -> None:
    tree = matmul()
    parted = changes.split(tree, (0,), 8)
    assert sizes(parted)[:2] == [(2, 4), (8, 0)]
    assert changes.merge(parted, (0,)) == tree


def test_loops_go_up_and_down() -> None:
    tree = changes.swap_down(matmul(), (0,))
    assert [loop.dim for _, loop in tree.loops()] == ["n", "m", "k"]
    assert changes.swap_up(tree, (0, 0)) == matmul()


def test_loops_of_a_pair_are_fused_where_the_result_is_complete() -> None:
    tree = initial_tree(parse_program(describe("dense", "m=4,n=6,k=8")))
    fused = changes.fuse(tree, (0,))
    assert len(fused.roots) == 1
    fused = changes.fuse(fused, (0, 0))
    assert str(fused).splitlines()[2:] == ["  for k in 8 : L2", *str(fused).splitlines()[3:]]
    assert fused.loop((0, 0)).body[1] == 1


def test_a_reduced_dimension_is_not_fused_with_the_reader_of_the_sum() -> None:
    text = """
        dim m 4
        a = read A[m]
        s = sum a [m]
        b = mul a s
        write b B[m]
    """
    tree = initial_tree(parse_program(text))
    assert changes.fuse(tree, (0,)) is tree


def test_a_loop_that_is_too_long_is_not_unrolled() -> None:
    tree = initial_tree(parse_program(describe("add", "a=65")))
    assert changes.toggle_unroll(tree, (0,)) is tree
    assert changes.toggle_unroll(changes.split(tree, (0,), 64), (0, 0)).loop((0, 0)).unroll


def test_an_unlawful_tree_is_reported() -> None:
    tree = matmul()
    assert changes.is_lawful(tree)
    assert not changes.is_lawful(Tree(tree.program, ()))
    assert not changes.is_lawful(Tree(tree.program, (*tree.roots, 0)))
    outer = tree.roots[0]
    assert isinstance(outer, Loop)
    assert not changes.is_lawful(Tree(tree.program, (replace(outer, packs=("Z",)),)))
