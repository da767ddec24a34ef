# SPDX-License-Identifier: MIT
"""A user's own files and texts are programs, named after what they hold."""

from pathlib import Path

import pytest

from compiler_gym.datasets import RunSpec
from compiler_gym.errors import BenchmarkInitError
from compiler_gym_gcc.programs.own import (
    make_benchmark,
    make_benchmark_from,
    make_benchmark_from_source,
)
from compiler_gym_gcc.programs.source import SourceProgram, unpack


def test_files_are_a_program_with_their_headers_and_flags(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#include "a.h"\nint a = A;\n')
    (tmp_path / "a.h").write_text("#define A 1\n")
    benchmark = make_benchmark(tmp_path / "a.c", ["-DNDEBUG"], run=RunSpec.single())
    program = unpack(benchmark.contents)
    assert program.units == ("a.c",)
    assert set(program.files) == {"a.c", "a.h"}
    assert "-DNDEBUG" in program.flags
    assert benchmark.run == RunSpec.single()
    assert {source.filename for source in benchmark.sources} == {"a.c", "a.h"}


def test_a_missing_file_is_not_a_program(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkInitError, match="no input files"):
        make_benchmark([])
    with pytest.raises(BenchmarkInitError, match="No such file"):
        make_benchmark(tmp_path / "missing.c")


def test_a_text_has_a_language() -> None:
    plain = make_benchmark_from_source("int a;")
    assert plain.contents == b"int a;"
    assert unpack(make_benchmark_from_source("int a;", lang="c++").contents).units == ("src.cc",)
    with pytest.raises(BenchmarkInitError, match="no language 'rust'; choose from c, c"):
        make_benchmark_from_source("fn main() {}", lang="rust")


def test_equal_programs_have_equal_names_unless_they_are_given_one() -> None:
    program = SourceProgram(("a.c",), {"a.c": b"int a;"})
    assert make_benchmark_from(program) == make_benchmark_from(program)
    assert str(make_benchmark_from(program)).startswith("benchmark://user-v0/")
    assert str(make_benchmark_from(program, "own-v0/1")) == "benchmark://own-v0/1"
