# SPDX-License-Identifier: MIT
"""Lines are whole or not there, whatever a kill left behind."""

from pathlib import Path

import pytest

from compiler_gym.json_lines import (
    append_line,
    close_last_line,
    drop_cut_line,
    lines,
    whole_lines,
)


def test_what_is_appended_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    append_line(path, {"a": 1})
    append_line(path, {"b": "ü"}, sync=False)
    assert list(lines(path)) == list(whole_lines(path)) == [{"a": 1}, {"b": "ü"}]


def test_no_file_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "missing"
    drop_cut_line(path)
    close_last_line(path)
    assert list(lines(path)) == list(whole_lines(path)) == []
    assert not path.exists()


def test_a_line_that_was_cut_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"b"')
    drop_cut_line(path)
    assert path.read_text() == '{"a": 1}\n'
    drop_cut_line(path)
    assert path.read_text() == '{"a": 1}\n'


def test_a_last_line_is_ended_once(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}')
    close_last_line(path)
    close_last_line(path)
    assert path.read_text() == '{"a": 1}\n'
    path.write_text("")
    close_last_line(path)
    assert path.read_text() == ""


def test_damage_is_raised_or_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\nbroken\n[2]\n\n{"b": 2}\n')
    assert list(whole_lines(path)) == [{"a": 1}, {"b": 2}]
    with pytest.raises(ValueError, match=r"x.jsonl, line 2 is damaged: Expecting value"):
        list(lines(path))
