# SPDX-License-Identifier: MIT
"""The model without a clock ranks nests as real machines do, and never fails."""

import random

import pytest

from compiler_gym_loop_tool.actions import LOOPS, TABLE
from compiler_gym_loop_tool.observations.static_cost import estimate_cycles, estimate_gflops
from compiler_gym_loop_tool.state.cursor import Cursor
from compiler_gym_loop_tool.state.descriptions import KINDS, describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree

ACTIONS = {action.name: action for action in TABLE[LOOPS]}


def played(text: str, words: str) -> Cursor:
    cursor = Cursor(initial_tree(parse_program(text)))
    for word in words.split():
        changed = ACTIONS[word].apply(cursor)
        assert changed is not cursor, word
        cursor = changed
    return cursor


def test_a_better_matmul_is_estimated_better() -> None:
    matmul = describe("matmul", "m=128,n=128,k=128")
    steps = (
        "",
        "down swap_down",  # n innermost: contiguous
        "down swap_down split_16 down vectorise",
        # 4 rows of m, 16 of n in registers over all k
        "split_4 down swap_down swap_down unroll up up split_16 down swap_down swap_down vectorise",
    )
    found = [estimate_gflops(played(matmul, words).tree) for words in steps]
    assert found == sorted(found)
    assert found[-1] > 10 * found[0]


def test_threads_help_large_programs_only() -> None:
    for size, helps in ((2**22, True), (64, False)):
        text = describe("add", f"a={size}")
        before, after = (estimate_gflops(played(text, words).tree) for words in ("", "parallelise"))
        assert (after > before) is helps


@pytest.mark.parametrize("kind", KINDS)
def test_every_tree_has_a_cost(kind: str) -> None:
    choose = random.Random(kind)
    cursor = Cursor(initial_tree(parse_program(describe(kind, ""))))
    for _ in range(60):
        cursor = choose.choice(TABLE[LOOPS]).apply(cursor)
        assert 0 < estimate_cycles(cursor.tree) < 1e15
