# SPDX-License-Identifier: MIT
"""The table of outcomes as a file."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.tails.table import VALIDATION, TailColumns, TailTable


def make_table() -> TailTable:
    """Return three functions and three tails; the second tail is chosen for bytes."""
    text = np.array(["a", "b", "b"])
    numbers = np.arange(3, dtype=np.int32)
    grid = np.arange(9, dtype=np.int32).reshape(3, 3)
    columns = TailColumns(
        text,
        np.array(["train", "test", "test"]),
        np.array(["MIT", "", "Expat | GPL-2"]),
        text,
        np.array(["f", "g", "h"]),
        numbers.astype(np.int64),
        numbers + 10,
        numbers + 40,
        (grid / 2).astype(np.float32),
        grid,
        10 + grid % 4,
        40 - grid,
    )
    covers = {"instructions": [2, 0], "bytes": [1]}
    return TailTable(columns, ["x", "y", "z"], ["p", "q", "r"], ["c", "d", "e"], covers, "LLVM 22")


def test_a_file_has_the_same_table_and_a_card(tmp_path: Path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    table = make_table()
    path = table.save(tmp_path)
    again = TailTable.load(path)
    for name in TailColumns.__dataclass_fields__:
        old, new = getattr(table.columns, name), getattr(again.columns, name)
        assert (old == new).all()
        assert old.dtype.kind == new.dtype.kind
    assert (again.covers, again.features) == (table.covers, table.features)
    card = (tmp_path / "README.md").read_text()
    assert "| test | 1 | 2 | 23 | 83 |" in card
    assert "| Expat / GPL-2 | 1 |" in card
    assert "| not stated | 1 |" in card
    assert table.save(tmp_path / "other").read_bytes() == path.read_bytes()


def test_the_included_table_has_64_tails_on_validation_packages():
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    table = TailTable.load(VALIDATION)
    labels = table.labels("bytes", "validation", every=True)
    assert labels.left.shape == (len(table.columns.name), 64)
    assert len(labels.names) > 1_000
    assert len({*labels.packages}) == 7
    assert table.labels("bytes", "train", "test").names.tolist() == []
    assert labels.features.shape[1] == len(table.features)


def test_labels_have_the_tails_of_their_goal_first():
    table = make_table()
    labels = table.labels("instructions", "test")
    assert labels.names.tolist() == ["g", "h"]
    assert table.tails_for("instructions") == ["z", "x"]
    assert labels.left.tolist() == [[11, 13], [10, 12]]
    every = table.labels("bytes", "train", "test", every=True)
    assert table.tails_for("bytes", every=True) == ["y", "x", "z"]
    assert every.sizes.tolist() == [40, 41, 42]
    assert every.savings.tolist() == [[1, 0, 2], [5, 4, 6], [9, 8, 10]]
    assert every.regret(np.array([0, 1, 2])).tolist() == [1, 2, 0]


def test_other_files_and_goals_are_refused(tmp_path: Path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    (tmp_path / "text").write_text("no table")
    for name in ("text", "missing"):
        with pytest.raises(InvalidParameterError, match="cannot read a table"):
            TailTable.load(tmp_path / name)
    with pytest.raises(ValueError, match="speed"):
        make_table().labels("speed", "test")


def test_a_table_needs_no_compiler(tmp_path: Path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    program = (
        "import sys; from pathlib import Path\n"
        "from compiler_gym.tools.learn.tails import TailTable\n"
        "labels = TailTable.load(Path(sys.argv[1])).labels('bytes', 'test')\n"
        "assert len(labels.names) and 'compiler_gym._llvm' not in sys.modules"
    )
    words = [sys.executable, "-c", program, str(make_table().save(tmp_path))]
    subprocess.run(words, check=True)
