# SPDX-License-Identifier: MIT
"""A program whose tests passed is tested again as soon as anything of it changes."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.programs import conftest, proven


def test_the_record_names_no_program_that_is_gone() -> None:
    assert set(json.loads(proven.RECORD.read_text())) <= set(proven.names())


def test_every_program_has_its_tests() -> None:
    for name in proven.names():
        assert proven.RECORD.with_name(proven.test_file(name)).is_file(), name


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the programs with their tests."""
    for folder in ("jpeg-d", "sha", "_jpeg", "_tiff"):
        shutil.copytree(proven.ROOT / "programs" / folder, tmp_path / "programs" / folder)
    for script in (proven.ROOT / "programs").glob("*.py"):
        shutil.copy(script, tmp_path / "programs")
    shutil.copytree(proven.ROOT / "tests" / "programs", tmp_path / "tests" / "programs")
    shutil.copy(proven.ROOT / "tests" / "loading.py", tmp_path / "tests")
    return tmp_path


@pytest.mark.parametrize(
    "file",
    [
        "programs/jpeg-d/program.toml",
        "programs/jpeg-d/expected.json",
        "programs/jpeg-d/jpeg-d.bc",
        "programs/_jpeg/new.h",
        "programs/_cases.py",
        "programs/build.py",
        "tests/loading.py",
        "tests/programs/conftest.py",
        "tests/programs/test_all.py",
        "tests/programs/test_jpeg_d.py",
    ],
)
def test_any_change_of_a_program_is_seen(copied: Path, file: str) -> None:
    before = proven.digest("jpeg-d", by="clang", root=copied)
    assert before == proven.digest("jpeg-d", by="clang", root=proven.ROOT)
    assert before != proven.digest("jpeg-d", by="another clang", root=copied)
    with (copied / file).open("a") as changed:
        changed.write(" ")
    assert before != proven.digest("jpeg-d", by="clang", root=copied)


def test_the_files_of_another_program_are_its_own(copied: Path) -> None:
    before = proven.digest("jpeg-d", by="clang", root=copied)
    (copied / "programs" / "sha" / "sha.c").write_text("int main(void) { return 1; }\n")
    assert before == proven.digest("jpeg-d", by="clang", root=copied)


def test_tests_of_recordings_belong_to_the_whole_suite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def left_out(*recorded: str) -> set[str]:
        monkeypatch.setattr(proven, "unchanged", lambda: set(recorded))
        marked: set[str] = set()
        conftest.pytest_collection_modifyitems([collected(path, marked) for path in files])
        return marked

    files = (
        "programs/test_sha.py",
        "programs/test_tiff.py",
        "programs/test_proven.py",
        "test_sha.py",
    )
    assert left_out() == set()
    assert left_out("sha", "tiff2bw") == {"programs/test_sha.py"}
    assert left_out(*proven.names()) == {"programs/test_sha.py", "programs/test_tiff.py"}


def collected(file: str, marked: set[str]) -> Any:
    """Return a test of `file` that notes when it is marked as slow."""

    def note(mark: object) -> None:
        if mark == pytest.mark.slow:
            marked.add(file)

    return SimpleNamespace(path=proven.ROOT / "tests" / file, add_marker=note)
