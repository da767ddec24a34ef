# SPDX-License-Identifier: MIT
"""The page of the source tree is made from the present docstrings, and leaves no folder out."""

from pathlib import Path

from docs.generate import HEAD, REFERENCE
from docs.tree_page import ARCHITECTURE, PACKAGES, tree_page, with_tools

SOURCE = Path(__file__).parents[2] / "src" / "compiler_gym"
STALE = "expected `make docs` after a change of the tree or of a docstring"


def test_the_pages_show_the_present_tree() -> None:
    written = (REFERENCE / "source-tree.md").read_text(encoding="utf-8")
    assert written == f"{HEAD}\n{tree_page()}", STALE
    assert with_tools() == ARCHITECTURE.read_text(encoding="utf-8"), STALE


def test_every_folder_has_a_row_with_its_contents() -> None:
    rows = [line.split(" | ") for line in tree_page().splitlines() if "`" in line and "|" in line]
    holds = {row[-2].strip("| `"): row[-1].strip("| ") for row in rows}
    top = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    tools = {f"tools/{path.parent.name}" for path in SOURCE.glob("tools/*/__init__.py")}
    packages = {f"packages/{path.name}" for path in PACKAGES.iterdir()}
    assert top | tools | packages <= set(holds)
    assert all(text.endswith(".") for text in holds.values())


def test_the_page_on_the_architecture_fits_on_a_page() -> None:
    assert len(ARCHITECTURE.read_text(encoding="utf-8").splitlines()) <= 90
