# SPDX-License-Identifier: MIT
"""The generated pages are those of the code."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_pages import run

from docs.generate import stale_pages
from tests.warm import Warm

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "reference").rglob("*.md"))
CHECK = [sys.executable, "-m", "docs.generate", "--check"]


@pytest.mark.docs
def test_the_reference_pages_are_up_to_date() -> None:
    done = subprocess.run(CHECK, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_stale_a_missing_and_a_left_over_page_are_noticed(tmp_path: Path) -> None:
    written = {"a.md": "new", "b.md": "same", "datasets/c.md": "new"}
    (tmp_path / "datasets").mkdir()
    for name, text in {"a.md": "old", "b.md": "same", "datasets/d.md": "old"}.items():
        (tmp_path / name).write_text(text)
    assert stale_pages(tmp_path, written) == ["a.md", "datasets/c.md", "datasets/d.md"]


SAYING = ("what it is", "what it does")
OWNERS = ("pass",)
"""A column whose rows are of different things: the same option of two passes reads the same."""


def tables(text: str) -> Iterator[list[list[str]]]:
    """Yield the tables of a page: rows of cells, the head first."""
    for found in re.finditer(r"(?:^\|.*\n)+", text, re.M):
        lines = found.group().splitlines()
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        yield [rows[0], *rows[2:]]


def unclear(text: str) -> list[str]:
    """Return what the rows of a page's tables say that is nothing, or what another row says."""
    wrong: list[str] = []
    for head, *rows in tables(text):
        for column in {head.index(one) for one in SAYING if one in head}:
            owner = next((head.index(one) for one in OWNERS if one in head), None)
            said = Counter((owner is not None and row[owner], row[column]) for row in rows)
            wrong += [what or "nothing" for (_, what), n in said.items() if n > 1 or not what]
    return wrong


def test_each_row_of_a_table_is_unique() -> None:
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert {name: wrong for name, text in texts.items() if (wrong := unclear(text))} == {}
    heads = [(name, head) for name, text in texts.items() for head, *_ in tables(text)]
    assert [name for name, head in heads if "" in head and any(head)] == []


def test_rows_that_read_identically_are_seen() -> None:
    head = "| name | what it is |\n| --- | --- |\n"
    assert unclear(f"{head}| a | size |\n| b | size |\n| c |  |\n") == ["size", "nothing"]
    assert unclear(f"{head}| a | size |\n| b | time |\n") == []


@pytest.mark.docs
def test_the_blocks_of_the_readme_run(warm: Warm, tmp_path: Path) -> None:
    status, said = run(warm, ROOT / "README.md", tmp_path)
    assert status == 0, said
    assert "2 blocks ran" in said  # the snippet, and the command below it


def test_each_dataset_has_its_own_page() -> None:
    pages = [page for page in PAGES if page.parent.name == "datasets"]
    titles = [re.findall(r"^# `(.*)`$", page.read_text(encoding="utf-8"), re.M) for page in pages]
    listed = {
        row[0].split("`")[1]
        for page in PAGES
        if page.name.endswith("-datasets.md")
        for _, *rows in tables(page.read_text(encoding="utf-8"))
        for row in rows
    }
    assert listed <= {title for (title,) in titles}


def test_only_a_dataset_that_is_fetched_is_said_to_be_an_archive() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES if page.parent.name == "datasets"]
    assert [text for text in texts if "the archive" in text and "Fetch it with" not in text] == []
