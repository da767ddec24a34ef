# SPDX-License-Identifier: MIT
"""Savings of findings are counted by function, and epilogues only where they can pop."""

import pytest

from scripts.upstream_counts import Effect, count_pops


@pytest.mark.parametrize(
    ("epilogue", "sites"),
    [
        ("addq\t$8, %rsp\n\tpopq\t%rbx\n\tretq", {"f": 1}),
        ("addq\t$8, %rsp\n\t.cfi_def_cfa_offset 16\n\tpopq\t%rbx\n\tretq", {"f": 1}),
        ("addq\t$8, %rsp\n\tretq", {}),
        ("addq\t$24, %rsp\n\tpopq\t%rbx\n\tretq", {}),
    ],
)
def test_an_addition_before_a_restore_can_pop(epilogue: str, sites: dict[str, int]) -> None:
    text = f"\t.type\tf,@function\nf:\n\t{epilogue}\n\t.size\tf, 9\n"
    assert count_pops(text) == sites


def test_functions_that_grow_count_against_a_finding() -> None:
    effect = Effect()
    for before, after in ((20, 14), (20, 20), (20, 21)):
        effect.add("package", before, after)
    assert (effect.functions, effect.saved, effect.larger, effect.added) == (1, 6, 1, 1)
