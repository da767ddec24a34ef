# SPDX-License-Identifier: MIT
"""Readers find programs in a fixed order, and say why something is none."""

import json
from pathlib import Path

import pytest

from compiler_gym.datasets import ReadOptions
from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.collections.readers import Candidate, find_reader
from tests.datasets.conftest import make_tar


def found(path: Path, options: ReadOptions | None = None, start: int = 0) -> list[Candidate | None]:
    return list(find_reader(path)(path, options or ReadOptions(), start))


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_lines_handled_before_are_skipped_and_still_counted(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.c", "b.c", "notes.md"):
        (folder / name).write_text(f"int {name[0]};")
    first, second = found(folder)
    assert first is not None
    assert second is not None
    assert (first.key, first.contents, first.suffix) == ("a.c", b"int a;", ".c")
    assert found(folder, start=1) == [None, second]
    assert found(folder, start=2) == [None, None]


def test_archives_tables_and_lines_are_recognised_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(make_tar({"x/a.c": b"int a;"}, "gz"))
    (only,) = found(tmp_path / "a.tar.gz")
    assert only is not None
    assert (only.key, only.contents) == ("x/a.c", b"int a;")
    for name in ("a.rar", "a.txt"):
        (tmp_path / name).touch()
        with pytest.raises(DatasetInitError, match="unknown format of"):
            find_reader(tmp_path / name)
    with pytest.raises(DatasetInitError, match="no such file or directory"):
        find_reader(tmp_path / "missing")


@pytest.mark.parametrize(
    "record",
    [
        {"code": "int a;"},
        {"func_def": "int a;"},
        {"content": "int a;"},
        {"source": "int a;"},
        {"text": "int a;"},
        {"text": {"code": "int a;"}},
    ],
    ids=json.dumps,
)
def test_a_line_holds_its_program_under_several_names(record: object, tmp_path: Path) -> None:
    (only,) = found(lines(tmp_path / "x.jsonl", record))
    assert only is not None
    assert (only.contents, only.suffix, only.problem) == (b"int a;", ".c", None)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "invalid JSON"),
        ("[1]", "no field func_def, code, content or source"),
        ('{"code": ""}', "no field func"),
    ],
)
def test_a_line_without_a_program_gives_the_reason(line: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(line + "\n")
    (only,) = found(tmp_path / "x.jsonl")
    assert only is not None
    assert only.problem is not None
    assert problem in only.problem


def test_a_licence_is_that_of_the_file_of_its_folder_or_of_the_options(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("// SPDX-License-Identifier: Apache-2.0\nint a;")
    (tmp_path / "b.c").write_text("int b;")
    options = ReadOptions(license="BSD")
    assert [c.license for c in found(tmp_path, options) if c] == ["Apache-2.0", "BSD"]
    (tmp_path / "LICENSE").write_text("GNU GENERAL PUBLIC LICENSE\n")
    assert [c.license for c in found(tmp_path) if c] == ["Apache-2.0", "GPL"]


def test_a_program_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;")
    (only,) = found(tmp_path, ReadOptions(max_bytes=3))
    assert only is not None
    assert (only.contents, only.problem) == (b"", "6 bytes exceed the limit of 3")
