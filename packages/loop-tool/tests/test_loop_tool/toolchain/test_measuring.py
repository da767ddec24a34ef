# SPDX-License-Identifier: MIT
"""Trees are compiled once, checked before they are timed, and compared in turns."""

import json
import random
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from compiler_gym.errors import ObservationError, WrongResultError
from compiler_gym_loop_tool.actions import LOOPS, TABLE, changes
from compiler_gym_loop_tool.jit import Call
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import KINDS, describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import Tree, initial_tree
from compiler_gym_loop_tool.toolchain import measuring
from compiler_gym_loop_tool.toolchain.code.compiled import CompiledNest, compile_nest
from compiler_gym_loop_tool.toolchain.code.driver import is_available
from compiler_gym_loop_tool.toolchain.measuring import Bench
from compiler_gym_loop_tool.toolchain.proven import Proven
from tests.stand_ins import always


def tree_of(kind: str, words: str) -> Tree:
    return initial_tree(parse_program(describe(kind, words)))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Tree]:
    trees: list[Tree] = []

    def count(tree: Tree) -> CompiledNest:
        trees.append(tree)
        return compile_nest(tree)

    monkeypatch.setattr(measuring, "compile_nest", count)
    return trees


def test_a_tree_is_compiled_once(compiled: list[Tree]) -> None:
    tree = tree_of("matmul", "m=8,n=8,k=8")
    bench = Bench(tree, Proven(tree.program))
    other = changes.swap_down(tree, (0,))
    for one in (tree, tree, other, tree):
        assert bench.measure(one).gflops > 0
    assert len(compiled) == 2


def test_the_next_episode_compiles_nothing_that_was_found_right(compiled: list[Tree]) -> None:
    for _ in range(3):
        tree = tree_of("matmul", "m=9,n=10,k=11")
        Bench(tree).measure(tree)
    assert len(compiled) <= 1, "none, where another test was first"


class Swapped(CompiledNest):
    """A nest that takes its input for its output."""

    def on(self, memory: Mapping[str, NDArray[np.float32]]) -> Call:
        return super().on(dict(reversed(list(memory.items()))))


def test_a_nest_that_spoils_its_inputs_spoils_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = initial_tree(parse_program("dim m 8\na = read X[m]\nb = neg a\nwrite b Y[m]"))
    bench = Bench(tree, Proven(tree.program))
    right = compile_nest(tree)
    wrong = Swapped(right.program, right.code, right.is_threaded)
    monkeypatch.setattr(measuring, "compile_nest", always(wrong))
    with pytest.raises(WrongResultError, match="nan, but NumPy computes"):
        bench.measure(tree)
    monkeypatch.undo()
    assert bench.measure(tree).gflops > 0


def test_a_step_that_leaves_the_tree_is_not_timed() -> None:
    tree = tree_of("matmul", "m=8,n=8,k=8")
    bench = Bench(tree)
    first = bench.measure(tree)
    bench.actions += 1
    assert bench.measure(tree) is first
    assert bench.measure(tree) is not first, "who asks twice gets a new time"
    bench.actions += 1
    other = changes.swap_down(tree, (0,))
    assert bench.measure(other) is not first
    bench.actions += 1
    assert bench.measure(tree) is not first


def test_a_gain_is_that_since_the_last(compiled: list[Tree]) -> None:
    tree = tree_of("matmul", "m=96,n=96,k=96")
    bench = Bench(tree, Proven(tree.program))
    assert bench.gain(tree) == 0.0
    assert not compiled
    bench.actions += 1
    fast = changes.swap_down(tree, (0, 0))
    assert bench.gain(fast) > 0
    assert bench.gain(fast) == bench.gain(fast)
    bench.actions += 1
    assert bench.gain(fast) == 0.0
    bench.actions += 1
    assert bench.gain(tree) < 0


def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of("sum", "m=4,k=8")
    bench = Bench(tree, Proven(tree.program))
    other = compile_nest(tree_of("row_max", "m=4,k=8"))
    monkeypatch.setattr(measuring, "compile_nest", always(other))
    for _ in range(2):
        with pytest.raises(WrongResultError, match=r"Y\[\d\] is .*, but NumPy computes"):
            bench.measure(tree)
    monkeypatch.undo()
    assert bench.measure(tree).gflops > 0


def test_a_nest_that_runs_for_minutes_is_not_run() -> None:
    tree = tree_of("matmul", "m=4096,n=4096,k=4096")
    with pytest.raises(ObservationError, match="the limit is 20 s"):
        Bench(tree).measure(tree)


def test_long_measurements_have_a_close_upper_bound() -> None:
    """A naive matmul of 1024^3 takes seconds, threads are counted, so is handing work to them."""
    naive = tree_of("matmul", "m=1024,n=1024,k=1024")
    alone = measuring.most_seconds(naive)
    assert 2 < alone < measuring.MOST_SECONDS
    outer = changes.toggle_parallel(naive, (0,))
    assert alone / 4 < measuring.most_seconds(outer) <= alone * 1.01
    inner = changes.toggle_parallel(naive, (0, 0))
    assert measuring.most_seconds(inner) > measuring.most_seconds(outer) + 0.01


def cuda_tree(kind: str, words: str) -> Tree:
    return initial_tree(parse_program("target cuda\n" + describe(kind, words)))


@pytest.mark.skipif(is_available(), reason="this machine has a card")
def test_without_a_card_the_error_names_the_missing_part() -> None:
    tree = cuda_tree("add", "a=8")
    with pytest.raises(ObservationError, match="NVIDIA"):
        Bench(tree).measure(tree)


@pytest.mark.skipif(not is_available(), reason="no card of NVIDIA's and its driver")
def test_a_program_for_a_card_is_checked_and_timed_there() -> None:
    tree = cuda_tree("matmul", "m=33,n=40,k=17")
    bench = Bench(tree)
    assert bench.measure(tree).gflops > 0
    bench.actions += 1
    assert bench.gain(changes.toggle_parallel(tree, (0,))) > 0


def test_text_for_a_card_needs_none() -> None:
    tree = cuda_tree("matmul", "m=8,n=8,k=8")
    bench = Bench(tree)
    assert "ptx_kernel" in bench.llvm_ir(tree)
    assert ".visible .entry nest" in bench.ptx(tree)
    assert ".target sm_70" in bench.ptx(tree_of("add", "a=8"))


def test_a_card_has_no_measured_peak() -> None:
    tree = cuda_tree("add", "a=8")
    with pytest.raises(ObservationError, match="peak of a GPU"):
        Bench(tree).peak()
    with pytest.raises(ObservationError, match="peak of a GPU"):
        Bench(tree).roofline(tree)


def test_a_nest_of_one_thread_that_a_card_cannot_end_is_not_run() -> None:
    tree = cuda_tree("matmul", "m=2048,n=2048,k=2048")
    with pytest.raises(ObservationError, match="parallelise"):
        Bench(tree).measure(tree)


def test_a_measured_time_is_reported_once() -> None:
    tree = tree_of("add", "a=1000")
    bench = Bench(tree)
    assert bench.last_facts() == ""
    timing = bench.measure(tree)
    assert json.loads(bench.last_facts())["gflops"] == timing.gflops
    assert bench.last_facts() == ""
    assert bench.timing(tree) is timing


def test_the_roof_is_what_memory_or_arithmetic_allow() -> None:
    tree = tree_of("add", "a=1000")
    facts = Bench(tree).roofline(tree)
    assert facts["intensity"] == pytest.approx(1 / 12)
    assert facts["roof"] == pytest.approx(min(facts["peak"], facts["bandwidth"] / 12))


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_trees_compute_what_numpy_does(kind: str) -> None:
    choose = random.Random(kind)
    words = ",".join(f"{dim}={choose.choice((2, 5, 16, 19, 33))}" for dim in KINDS[kind].sizes)
    cursor = Cursor(tree_of(kind, words))
    bench = Bench(cursor.tree)
    for seed in range(3):
        for _ in range(5):
            cursor = choose.choice(TABLE[LOOPS]).apply(cursor)
        assert bench.check(cursor.tree, "compiled", seed) == {"wrong": []}, str(cursor.tree)
