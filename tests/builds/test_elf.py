# SPDX-License-Identifier: MIT
"""Sizes and symbols are those that LLVM's own tools read."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import (
    exported_symbols,
    function_sizes,
    is_shared_library,
    needed_symbols,
    sizes_of,
)
from compiler_gym.errors import ProjectError
from tests.builds.projects import write_project


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_project(tmp_path_factory.mktemp("elf"))
    command = ["cc", "-O1", "-rdynamic", "main.c", "twice.c", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    subprocess.run(["cc", "-c", "main.c"], cwd=folder, check=True)
    subprocess.run(["ar", "rc", "lib.a", "main.o"], cwd=folder, check=True)
    return folder / "program"


@pytest.mark.skipif(shutil.which("llvm-size-22") is None, reason="needs llvm-size-22")
def test_the_text_is_that_of_llvm_size(program: Path) -> None:
    listed = subprocess.run(
        ["llvm-size-22", "-A", program], capture_output=True, text=True, check=True
    ).stdout
    (text,) = (int(line.split()[1]) for line in listed.splitlines() if line.startswith(".text"))
    assert sizes_of(program).text == text
    assert sizes_of(program).total == program.stat().st_size


def test_functions_have_the_sizes_of_the_symbol_table(program: Path) -> None:
    listed = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    expected = {row[3]: int(row[1], 16) for row in rows if len(row) == 4 and row[2] in "Tt"}
    found = function_sizes(program)
    assert {name: found[name] for name in ("main", "twice", "thrice", "unused")} == {
        name: expected[name] for name in ("main", "twice", "thrice", "unused")
    }
    stripped = program.with_name("stripped")
    subprocess.run(["strip", "-o", stripped, program], check=True)
    assert function_sizes(stripped) == {}


def test_symbols_are_exported_and_needed(program: Path) -> None:
    assert {"main", "twice", "unused"} <= exported_symbols(program)
    assert {"printf", "twice"} <= needed_symbols(program.with_name("main.o"))
    assert "main" not in needed_symbols(program.with_name("lib.a"))
    assert "twice" in needed_symbols(program.with_name("lib.a"))


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    with pytest.raises(ProjectError, match="expected a 64-bit"):
        sizes_of(tmp_path / "text")


def test_a_cut_file_is_refused(program: Path, tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(program.read_bytes()[:2000])
    with pytest.raises(ProjectError, match="cut off"):
        sizes_of(tmp_path / "cut")


def test_a_shared_library_is_told_from_an_object(program: Path, tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", program.with_name("twice.c"), "-o", library], check=True
    )
    assert is_shared_library(library)
    assert not is_shared_library(program.with_name("main.o"))
    assert not is_shared_library(program.with_name("main.c"))
    assert not is_shared_library(tmp_path / "missing")
