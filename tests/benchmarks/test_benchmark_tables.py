# SPDX-License-Identifier: MIT
"""Tables replace those of before, and nothing else."""

from pathlib import Path

import pytest

from benchmarks.tables import write_table


def test_a_table_replaces_what_stood_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- honest: by a command -->\nold\n<!-- end honest -->\nb\n")
    write_table("honest", "| new |", page)
    assert page.read_text() == (
        "a\n<!-- honest: by a command -->\n\n| new |\n\n<!-- end honest -->\nb\n"
    )
    with pytest.raises(SystemExit, match="no marks for planted"):
        write_table("planted", "", page)
