# SPDX-License-Identifier: MIT
"""What was tried is there again after any end."""

import math
from pathlib import Path

from compiler_gym.tools.tune import Journal, Tried


def test_tried_candidates_are_read_back(tmp_path: Path) -> None:
    first = Journal(tmp_path / "tried.jsonl", "key")
    first.add("stage", Tried(("a", "b"), 12.0))
    first.add("stage", Tried((), math.inf))
    again = Journal(tmp_path / "tried.jsonl", "key")
    assert list(again.iterate_tried()) == [Tried(("a", "b"), 12.0), Tried((), math.inf)]
    assert again.cost(("a", "b")) == 12.0
    assert again.cost(("b",)) is None


def test_another_program_has_its_own_journal(tmp_path: Path) -> None:
    Journal(tmp_path / "tried.jsonl", "one").add("stage", Tried(("a",), 1.0))
    assert list(Journal(tmp_path / "tried.jsonl", "two").iterate_tried()) == []


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "tried.jsonl"
    journal = Journal(path, "key")
    journal.add("stage", Tried(("a",), 1.0))
    journal.add("stage", Tried(("b",), 2.0))
    path.write_bytes(path.read_bytes()[:-5])
    again = Journal(path, "key")
    assert list(again.iterate_tried()) == [Tried(("a",), 1.0)]
    again.add("stage", Tried(("c",), 3.0))
    assert len(list(Journal(path, "key").iterate_tried())) == 2
