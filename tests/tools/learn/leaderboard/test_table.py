# SPDX-License-Identifier: MIT
"""Submissions are ranked, and the tables of pages are brought up to date."""

from pathlib import Path

import pytest

from compiler_gym.tools.learn.leaderboard import (
    Submission,
    find_submissions,
    table,
    with_tables,
    write_tables,
)

from .conftest import tampered

ROOT = Path(__file__).parents[4]
PAGES = [ROOT / "docs" / "results" / "leaderboards.md"]


def test_tables_rank_and_fill_the_marks_of_a_page(submission: Submission) -> None:
    page = "a\n<!-- leaderboard llvm-ic-1s: by a command -->\nold\n<!-- end leaderboard -->\nb\n"
    filled = with_tables(page, [submission])
    assert "| Oz |" in filled
    assert "old" not in filled
    assert with_tables(filled, [submission]) == filled
    assert write_tables([submission]) in filled
    late = tampered(submission, lambda lines: lines[0].update(is_late=True))
    assert "| Oz |" not in write_tables([late])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_of_the_pages_are_those_of_the_submissions(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<!-- leaderboard" in text
    assert with_tables(text, list(find_submissions(ROOT / "leaderboard"))) == text


def test_tasks_are_ordered_by_their_time_and_not_by_their_letters() -> None:
    names = ["llvm-ic-60s", "llvm-ic-1s", "llvm-textsize-10s", "llvm-ic-10s", "llvm-ic-unseen"]
    assert sorted(names, key=table._ranking) == [  # pyright: ignore[reportPrivateUsage]  # tested on its own
        "llvm-ic-1s", "llvm-ic-10s", "llvm-ic-60s", "llvm-ic-unseen", "llvm-textsize-10s",
    ]  # fmt: skip


def test_a_mark_may_name_one_task_and_others_stay_empty(submission: Submission) -> None:
    page = (
        "<!-- leaderboard llvm-ic-10s: x -->\nold\n<!-- end leaderboard -->\n"
        "<!-- leaderboard: y -->\nold\n<!-- end leaderboard -->\n"
    )
    first, second = with_tables(page, [submission]).split("<!-- end leaderboard -->")[:2]
    assert "| Oz |" not in first
    assert "old" not in first
    assert "| Oz |" in second


def test_a_page_without_marks_is_left_alone(submission: Submission) -> None:
    text = "| policy |\n<!-- leaderboard -->\n"
    assert with_tables(text, [submission]) == text
