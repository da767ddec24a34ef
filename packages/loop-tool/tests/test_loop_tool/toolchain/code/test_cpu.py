# SPDX-License-Identifier: MIT
"""Whatever order a tree has, its code computes what numpy and the interpreter do."""

import random
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.jit import set_threads
from compiler_gym_loop_tool.state.descriptions import KINDS, describe
from compiler_gym_loop_tool.state.interpreter import interpret
from compiler_gym_loop_tool.state.program import Program
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import (
    compare,
    random_inputs,
    reference_outputs,
)
from compiler_gym_loop_tool.state.tree import Loop, Path, Tree, initial_tree, settle_nodes
from compiler_gym_loop_tool.toolchain.code.compiled import compile_nest, nest_ir
from compiler_gym_loop_tool.toolchain.code.cpu import lower
from tests.effort import examples

SIZES = (1, 2, 3, 5, 8, 16, 17, 20, 33)


def program_of(kind: str, **sizes: int) -> Program:
    return parse_program(describe(kind, ",".join(f"{dim}={size}" for dim, size in sizes.items())))


def nest(program: Program, *loops: Loop) -> Tree:
    """A tree of one statement: loops from outside to inside, without extents and bodies."""
    node: Loop | int = 0
    for loop in reversed(loops):
        node = Loop(
            loop.dim, 0, loop.step, (node,),
            unroll=loop.unroll, vectorise=loop.vectorise, parallel=loop.parallel, packs=loop.packs,
        )  # fmt: skip
    return Tree(program, settle_nodes((node,), program.dims))


def matmul_tree(
    program: Program, rows: int, columns: int, depth: int, *, packs: tuple[str, ...] = ("B",)
) -> Tree:
    """A register tile of `rows` times `columns`, inside of blocks of `depth`."""
    return nest(
        program,
        Loop("k", 0, depth, ()),
        Loop("n", 0, columns, (), packs=packs),
        Loop("m", 0, rows, (), parallel=False),
        Loop("k", 0, 1, ()),
        Loop("m", 0, 1, (), unroll=True),
        Loop("n", 0, 1, (), vectorise=True),
    )


CHANGES: tuple[Callable[[Tree, Path, random.Random], Tree], ...] = (
    lambda tree, path, draw: changes.split(tree, path, draw.choice((2, 3, 4, 5, 8, 16))),
    lambda tree, path, draw: changes.split(tree, path, draw.choice((2, 4, 16))),
    lambda tree, path, _: changes.swap_down(tree, path),
    lambda tree, path, _: changes.merge(tree, path),
    lambda tree, path, _: changes.fuse(tree, path),
    lambda tree, path, _: changes.toggle_unroll(tree, path),
    lambda tree, path, _: changes.toggle_vectorise(tree, path),
    lambda tree, path, _: changes.toggle_parallel(tree, path),
    lambda tree, path, draw: changes.pack(tree, path, draw.randrange(3)),
    lambda tree, path, draw: changes.resize(tree, path, draw.choice((1, -1))),
)


def some_tree(program: Program, seed: int, length: int) -> Tree:
    """A tree that `length` random changes made."""
    draw = random.Random(seed)
    tree = initial_tree(program)
    for _ in range(length):
        path, _ = draw.choice(tree.loops())
        change = draw.choice(CHANGES)
        tree = change(tree, path, draw)
    return tree


def assert_right(tree: Tree) -> None:
    inputs = random_inputs(tree.program, seed=1)
    found = compile_nest(tree).run(inputs)
    wrong = compare(tree.program, reference_outputs(tree.program, inputs), found)
    assert not wrong, f"{wrong[0]}\n{tree}"


@settings(max_examples=examples(60))
@given(
    kind=st.sampled_from(sorted(KINDS)),
    size=st.integers(0, 2**32),
    seed=st.integers(0, 2**32),
    length=st.integers(0, 30),
)
def test_any_tree_of_any_program_computes_what_numpy_does(
    kind: str, size: int, seed: int, length: int
) -> None:
    draw = random.Random(size)
    program = program_of(kind, **{dim: draw.choice(SIZES) for dim in KINDS[kind].sizes})
    try:
        set_threads(3)
        assert_right(some_tree(program, seed, length))
    finally:
        set_threads(0)


@settings(max_examples=examples(20))
@given(kind=st.sampled_from(sorted(KINDS)), seed=st.integers(0, 2**32))
def test_code_and_interpreter_agree(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    program = program_of(kind, **{dim: draw.choice((1, 2, 3, 5)) for dim in KINDS[kind].sizes})
    tree = some_tree(program, seed, 12)
    inputs = random_inputs(program, seed=2)
    found, meant = compile_nest(tree).run(inputs), interpret(tree, inputs)
    for name, values in meant.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [1, 15, 16, 17, 40, 128, 131])
@pytest.mark.parametrize("depth", [1, 7, 64])
def test_register_tiles_are_exact_at_any_size(size: int, depth: int) -> None:
    program = program_of("matmul", m=size, n=size, k=size)
    for packs in ((), ("B",), ("A", "B")):
        assert_right(matmul_tree(program, 6, 32, depth, packs=packs))


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_code_for_narrower_vectors_has_none_wider(width: int) -> None:
    program = program_of("softmax", m=3, n=37)
    text = "\n".join(
        line for line in lower(initial_tree(program), width).splitlines() if "declare" not in line
    )
    assert (f"<{width} x float>" in text) == (width > 1)
    assert f"<{2 * width} x float>" not in text


def test_sums_of_a_tile_stay_in_registers() -> None:
    tree = nest(
        program_of("matmul", m=64, n=64, k=64),
        Loop("m", 0, 4, ()),
        Loop("n", 0, 32, ()),
        Loop("k", 0, 1, ()),
        Loop("m", 0, 1, (), unroll=True),
        Loop("n", 0, 1, (), vectorise=True),
    )
    text = lower(tree, 16)
    inner = max(text.split("head"), key=lambda part: part.count("@llvm.fma"))
    assert inner.count("call <16 x float> @llvm.fma") == 8
    assert "store" not in inner.split("br i1")[0]
    assert text.count("%acc") > 8
    assert_right(tree)


def test_a_sum_over_lanes_is_taken_in_several_parts() -> None:
    program = program_of("sum", m=4, k=1024)
    text = lower(initial_tree(program), 16)
    assert len(set(re.findall("%acc[0-9]+ = phi <16 x float>", text))) == 4
    assert_right(initial_tree(program))


def test_tails_in_tails_do_not_double_the_code_each_time() -> None:
    program = program_of("conv2d", n=17, y=17, x=17, f=17, r=5, s=5, c=17)
    tree = initial_tree(program)
    for _ in range(3):
        for path, loop in reversed(tree.loops()):
            if loop.size > 2 and loop.tail == 0:
                tree = changes.split(tree, path, 2 if loop.size < 8 else 3)
    assert len(nest_ir(tree)) < 1_000_000
    assert_right(tree)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_share_a_loop(threads: int) -> None:
    program = program_of("matmul", m=50, n=40, k=30)
    tree = nest(
        program,
        Loop("m", 0, 4, (), parallel=True, packs=("A",)),
        Loop("n", 0, 16, (), parallel=True),
        Loop("k", 0, 1, ()),
        Loop("m", 0, 1, (), unroll=True),
        Loop("n", 0, 1, (), vectorise=True),
    )
    try:
        set_threads(threads)
        assert compile_nest(tree).is_threaded
        assert "@compiler_gym_parallel_for(ptr @part" in nest_ir(tree)
        assert_right(tree)
    finally:
        set_threads(0)


def test_exponentials_are_right_over_their_whole_range() -> None:
    program = program_of("exp_sub", m=1, n=4096)
    values = np.linspace(-110, 95, 4096, dtype=np.float32)
    found = compile_nest(initial_tree(program)).run(
        {"X": values.reshape(1, -1), "H": np.zeros(1, np.float32)}
    )["Y"][0]
    with np.errstate(over="ignore", under="ignore"):
        expected = np.exp(values.astype(np.float64)).astype(np.float32)
    expected[expected < np.finfo(np.float32).tiny] = 0
    np.testing.assert_allclose(found, expected, rtol=4e-7, atol=2e-38)
