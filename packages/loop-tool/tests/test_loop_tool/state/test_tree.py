# SPDX-License-Identifier: MIT
"""Trees are written as loop_tool writes them, and know where their loops are."""

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import Tree, initial_tree, list_leaves


def tree_of(kind: str, words: str, before: str = "") -> Tree:
    return initial_tree(parse_program(before + describe(kind, words)))


def test_a_tree_is_written_with_tails_levels_and_notes() -> None:
    tree = changes.split(tree_of("add", "a=10"), (0,), 4)
    tree = changes.toggle_vectorise(changes.toggle_parallel(tree, (0,)), (0, 0))
    assert str(tree).splitlines() == [
        "for a in 2 r 2 : L0 [thread]",
        " for a' in 4 : L1 [vectorise]",
        "  C[a] = (A[a] + B[a])",
    ]


def test_a_program_of_0_2_5_begins_with_three_loops_and_a_thread() -> None:
    tree = tree_of("add", "a=1024", "splits 3\n")
    found = [(loop.size, loop.tail, loop.parallel) for _, loop in tree.loops()]
    assert found == [(1024, 0, True), (1, 0, False), (1, 0, False)]


def test_threads_begin_on_the_outermost_loop_that_reduces_nothing() -> None:
    tree = tree_of("matmul", "m=4,n=4,k=4", "splits 2\n")
    assert [path for path, loop in tree.loops() if loop.parallel] == [(0,)]
    reduced = initial_tree(
        parse_program("splits 2\ndim a 4\nx = read A[a]\ns = sum x [a]\nwrite s S[]")
    )
    assert not any(loop.parallel for _, loop in reduced.loops())


def test_every_statement_has_a_nest() -> None:
    tree = tree_of("softmax", "m=3,n=4")
    assert [list_leaves(root) for root in tree.roots] == [(0,), (1,), (2,), (3,)]
    assert tree.at((1, 0, 0)) == 1
    assert len(tree.around((1, 0, 0))) == 2
