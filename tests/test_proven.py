# SPDX-License-Identifier: MIT
"""A part whose tests passed is tested again as soon as one of its files changes."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.affected import BLOCKS
from tests import proven


def test_the_record_names_only_what_exists() -> None:
    assert set(json.loads(proven.RECORD.read_text())) <= proven.parts()


def test_every_program_has_its_tests() -> None:
    for name in proven.programs():
        assert (proven.ROOT / "tests" / "programs" / proven.test_file(name)).is_file(), name


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
    before = proven.digest("programs/jpeg-d", copied)
    assert before == proven.digest("programs/jpeg-d")
    with (copied / file).open("a") as changed:
        changed.write(" ")
    assert before != proven.digest("programs/jpeg-d", copied)


def test_the_files_of_another_program_are_its_own(copied: Path) -> None:
    before = proven.digest("programs/jpeg-d", copied)
    (copied / "programs" / "sha" / "sha.c").write_text("int main(void) { return 1; }\n")
    assert before == proven.digest("programs/jpeg-d", copied)


def test_another_compiler_is_a_change_of_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    program, package = proven.digest("programs/sha"), proven.digest("packages/hunt")
    monkeypatch.setattr(proven, "compiler", lambda: "another clang")
    assert proven.digest("programs/sha") != program
    assert proven.digest("packages/hunt") == package


@pytest.mark.parametrize(
    ("part", "file", "is_of_it"),
    [
        ("packages/gcc", "packages/gcc/src/compiler_gym_gcc/session.py", True),
        ("packages/gcc", "packages/gcc/tests/test_gcc/test_session.py", True),
        ("packages/gcc", "packages/gcc/README.md", False),
        ("packages/gcc", "src/compiler_gym/session.py", True),
        ("packages/gcc", "src/compiler_gym/core/env.py", False),
        ("packages/gcc", "packages/hunt/src/compiler_gym_hunt/__init__.py", False),
        ("docs/guide/tune.md", "docs/guide/tune.md", True),
        ("docs/guide/tune.md", "src/compiler_gym/tools/tune/size_search.py", True),
        ("docs/guide/tune.md", "packages/gcc/src/compiler_gym_gcc/session.py", False),
        ("packages/hunt/docs/hunt.md", "packages/hunt/src/compiler_gym_hunt/__init__.py", True),
        ("scripts", "scripts/affected.py", True),
        ("scripts", "tests/scripts/test_affected.py", True),
        ("scripts", "tests/docs/blocks.py", True),
        ("scripts", "benchmarks/__main__.py", False),
    ],
)
def test_a_part_depends_on_its_files_and_on_the_doors_that_it_uses(
    part: str, file: str, is_of_it: bool
) -> None:
    assert (proven.ROOT / file).is_file()
    assert (proven.ROOT / file in proven.files(part)) == is_of_it


@pytest.mark.parametrize(
    ("test", "owners"),
    [
        ("tests/programs/test_sha.py::test_x", {"programs/sha"}),
        ("tests/programs/test_tiff.py::test_x", {"programs/tiff2bw", "programs/tiff2rgba"}),
        ("tests/programs/test_all.py::test_x[jpeg-d]", {"programs/jpeg-d"}),
        ("tests/programs/test_all.py::test_x", set[str]()),
        ("packages/gcc/tests/test_gcc/test_session.py::test_x[1]", {"packages/gcc"}),
        ("tests/scripts/test_affected.py::test_x", {"scripts"}),
        (f"{BLOCKS}[docs/guide/tune.md]", {"docs/guide/tune.md"}),
        ("tests/docs/test_pages.py::test_blocks_are_found", set[str]()),
        ("tests/core/test_plan.py::test_x[sha]", set[str]()),
    ],
)
def test_a_test_belongs_to_the_parts_that_it_tests(test: str, owners: set[str]) -> None:
    assert proven.owners(test) >= owners
    assert bool(proven.owners(test)) == bool(owners)


def test_tests_of_unchanged_parts_count_as_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    def omitted(*unchanged: str) -> set[str]:
        monkeypatch.setattr(proven, "unchanged", lambda: frozenset(unchanged))
        marked: set[str] = set()
        tests = ("tests/programs/test_sha.py", "tests/programs/test_tiff.py", "tests/test_x.py")
        proven.omit([_Collected(test, marked) for test in tests])  # type: ignore[misc]
        return marked

    assert omitted() == set()
    assert omitted("programs/sha", "programs/tiff2bw") == {"tests/programs/test_sha.py"}
    assert omitted(*proven.parts()) == {"tests/programs/test_sha.py", "tests/programs/test_tiff.py"}


@pytest.mark.parametrize(("effort", "omits"), [("changed", True), ("full", False), ("", False)])
def test_only_changes_are_tested_where_that_is_chosen(effort: str, omits: bool) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "tests/test_proven.py"]
    variables = {**os.environ, "TEST_EFFORT": effort}
    done = subprocess.run(command, cwd=proven.ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert ("omitted: tests of" in done.stdout) == omits


@dataclass(frozen=True)
class _Collected:
    """A test that notes when it is marked as slow."""

    nodeid: str
    marked: set[str]

    def add_marker(self, mark: object) -> None:
        if mark == pytest.mark.slow:
            self.marked.add(self.nodeid)
