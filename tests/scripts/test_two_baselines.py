# SPDX-License-Identifier: MIT
"""The tables of both baselines: arithmetic on costs, between the marks of a page."""

from pathlib import Path

import pytest

from scripts.two_baselines import Costs, fill, linked_table, table, totals

PAGE = Path(__file__).parents[2] / "docs" / "results" / "baselines.md"
ROWS = (
    Costs("cbench-v1/a", o0=300, opt_oz=200, oz=100, o3=250, linked_oz=90, program_oz=110),
    Costs("cbench-v1/b", o0=100, opt_oz=100, oz=100, o3=120, linked_oz=100, program_oz=50),
)


def test_the_share_of_attributes_is_what_clang_scores_against_opt() -> None:
    assert [row.share for row in ROWS] == [2.0, None]
    assert [row.more for row in ROWS] == [1.0, 0.0]


def test_a_table_has_a_row_for_each_program_and_one_of_means() -> None:
    lines = table(ROWS).splitlines()
    assert lines[2] == "| cbench-v1/a | 300 | 200 | 100 | 250 | +100.0% | 2.000 |"
    assert lines[3].endswith("| +0.0% | - |")
    assert lines[-1] == totals("geometric mean", ROWS)
    assert "**+41.4%** | **2.000**" in lines[-1]
    assert (
        linked_table(ROWS).splitlines()[2] == "| cbench-v1/a | 100 | 90 (-10.0%) | 110 (+10.0%) |"
    )


def test_a_page_is_filled_between_its_marks_alone() -> None:
    page = "a\n<!-- baselines one -->\nold\n<!-- end baselines -->\nb\n"
    filled = fill(page, {"one": "new"})
    assert filled == "a\n<!-- baselines one -->\n\nnew\n\n<!-- end baselines -->\nb\n"
    assert fill(filled, {"one": "new"}) == filled
    assert fill(filled, {"other": "new"}) == filled


@pytest.mark.parametrize("name", ["bundled", "csmith", "linked"])
def test_the_page_has_figures_of_each_kind(name: str) -> None:
    for cost in ("IrInstructionCount", "ObjectTextSize"):
        part = PAGE.read_text().partition(f"<!-- baselines {name}-{cost} -->")[2]
        assert part.partition("<!-- end baselines -->")[0].count("|") > 10


def test_the_page_has_sizes_of_linked_programs() -> None:
    part = PAGE.read_text().partition("<!-- baselines linked-LinkedTextSize -->")[2]
    assert part.partition("<!-- end baselines -->")[0].count("cbench-v1/") == 23
