# SPDX-License-Identifier: MIT
"""Programs of a compile_commands.json: one for each file or each target."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.envs import llvm
from compiler_gym.errors import (
    BenchmarkInitError,
)

from .conftest import Env, functions_of

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


@pytest.fixture
def database(project: Path) -> Path:
    """Return a compile_commands.json as CMake writes it."""
    build = project / "build"
    build.mkdir()
    entries: list[dict[str, Any]] = [
        {
            "directory": str(build),
            "command": f"/usr/bin/cc -I{project}/include -DN=3 -o CMakeFiles/app.dir/{name}.c.o "
            f"-c {project}/{name}.c",
            "file": f"{project}/{name}.c",
            "output": f"CMakeFiles/app.dir/{name}.c.o",
        }
        for name in ("main", "part")
    ]
    arguments = ["cc", "-c", "../broken.c", "-o", "broken.o"]
    entries.append({"directory": str(build), "arguments": arguments, "file": "../broken.c"})
    path = build / "compile_commands.json"
    path.write_text(json.dumps(entries))
    return path


def test_a_compilation_database_gives_one_program_for_each_file(database: Path) -> None:
    unreadable: list[tuple[str, str]] = []
    found = llvm.make_benchmarks_from_compile_commands(database, unreadable=unreadable)
    assert [Path(name).name for name in found] == ["main.c", "part.c"]
    assert [(name, "no such file" in reason) for name, reason in unreadable] == [
        ("../broken.c", True)
    ]
    with pytest.raises(BenchmarkInitError, match="no such file"):
        llvm.make_benchmarks_from_compile_commands(database)


def test_a_compilation_database_gives_one_program_for_each_target(
    database: Path, make_env: Env
) -> None:
    unreadable: list[tuple[str, str]] = []
    found = llvm.make_benchmarks_from_compile_commands_by_target(database, unreadable=unreadable)
    assert list(found) == ["app"]
    assert functions_of(found["app"], make_env) == {"main", "part"}
    assert [name for name, _ in unreadable] == ["all"]


@pytest.mark.parametrize(
    "text", ["", "{}x", "{}", "[1]", '[{"directory": "."}]', '{"a": 1}', "[" * 100_000]
)
def test_an_invalid_compilation_database_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text)
    with pytest.raises(BenchmarkInitError, match=r"not a compilation database|entry 1: it "):
        llvm.make_benchmarks_from_compile_commands(path)
    with pytest.raises(BenchmarkInitError, match="cannot read"):
        llvm.make_benchmarks_from_compile_commands(tmp_path / "nothing.json")


@pytest.mark.parametrize("broken", ["", "cc -c 'part.c", "cc -c part.c -o"])
def test_a_command_that_cannot_be_read_does_not_hide_the_others(broken: str, project: Path) -> None:
    path = project / "compile_commands.json"
    commands = {"part.c": "cc -Iinclude -c part.c", "bad.c": broken}
    path.write_text(json.dumps([{"command": c, "file": f} for f, c in commands.items()]))
    unreadable: list[tuple[str, str]] = []
    found = llvm.make_benchmarks_from_compile_commands(path, unreadable=unreadable)
    assert (list(found), [name for name, _ in unreadable]) == (["part.c"], ["bad.c"])
    with pytest.raises(
        BenchmarkInitError, match=r"got|cannot read|is empty|needs|has no|not a compilation"
    ):
        llvm.make_benchmarks_from_compile_commands(path)
