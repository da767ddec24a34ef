# SPDX-License-Identifier: MIT
"""The comparison of methods gives packages equal weight, and reads the newest measurements."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from scripts.judge_size import Row, compare, read_rows


def make_row(program: str, method: str, loaded: int, linking: float = 1.0) -> Row:
    package = program.partition("/")[0]
    return Row(program, package, "train", method, 10, loaded, loaded, 1, 1.0, linking)


def write_rows(path: Path, *lines: Row | Mapping[str, object]) -> Path:
    documents = [asdict(line) if isinstance(line, Row) else line for line in lines]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in documents))
    return path


def test_a_package_with_two_programs_counts_once(tmp_path: Path) -> None:
    rows = read_rows(
        [
            write_rows(
                tmp_path / "rows",
                *(make_row(program, "rival", 100) for program in ("a/x", "a/y", "b/z")),
                *(make_row(program, "new", 50, 2.0) for program in ("a/x", "a/y")),
                make_row("b/z", "new", 200, 2.0),
            )
        ]
    )
    result = compare(rows, "new", "rival")
    assert result["loaded"]["mean"] == pytest.approx(1.0)  # not 0.79
    assert (result["loaded"]["larger"], result["loaded"]["worst_program"]) == (1, "b/z")
    assert result["linking"]["mean"] == pytest.approx(2.0)
    assert result["building"]["mean"] == pytest.approx(1.5)


def test_the_newest_row_and_its_trial_are_used(tmp_path: Path) -> None:
    old, new = make_row("a/x", "new", 90), make_row("a/x", "new", 80)
    trial = {"program": "a/x", "trial": "new", "tests": "passed", "executed": 7}
    path = write_rows(tmp_path / "rows", old, new, trial)
    row = read_rows([path])["a/x"]["new"]
    assert (row.loaded, row.tests, row.executed) == (80, "passed", 7)


def test_a_program_whose_tests_fail_with_one_method_is_named(tmp_path: Path) -> None:
    lines = [make_row("a/x", method, 100) for method in ("rival", "new")]
    trials = [
        {"program": "a/x", "trial": method, "tests": said, "executed": 5}
        for method, said in (("rival", "passed"), ("new", "failed"))
    ]
    rows = read_rows([write_rows(tmp_path / "rows", *lines, *trials)])
    assert compare(rows, "new", "rival")["tests"] == {"same": 0, "differ": ["a/x"]}


def test_a_method_that_does_not_link_has_no_ratio(tmp_path: Path) -> None:
    failed = Row("a/x", "a", "train", "new", error="undefined symbol")
    path = write_rows(tmp_path / "rows", make_row("a/x", "rival", 100), failed)
    result = compare(read_rows([path]), "new", "rival")
    assert result["programs"] == 0
    assert "loaded" not in result
