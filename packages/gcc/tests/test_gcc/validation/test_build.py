# SPDX-License-Identifier: MIT
"""Objects are linked into programs that are lent, and a reference is built when it is run."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark, RunCase, RunSpec
from compiler_gym.errors import BenchmarkInitError
from compiler_gym_gcc import Gcc, make_benchmark_from_source
from compiler_gym_gcc.programs.source import unpack
from compiler_gym_gcc.toolchain.build import Builder
from compiler_gym_gcc.validation.build import build_reference, link_program

from ..conftest import needed

SPEC = RunSpec((RunCase(),), link=("-lm",))
TEXT = """
#include <math.h>
int main(int n, char **v) { return (int)sqrt(n * 9.0); }
"""


def object_of(benchmark: Benchmark, folder: Path) -> bytes:
    program = unpack(benchmark.contents)
    return Builder(Gcc(needed("gcc-12")), lambda words: program, folder).object(["-O0"])


def test_a_program_is_lent_and_taken_away(tmp_path: Path) -> None:
    benchmark = make_benchmark_from_source(TEXT, run=SPEC)
    with link_program("gcc-12", object_of(benchmark, tmp_path), benchmark) as program:
        assert subprocess.run([program], check=False).returncode == 3
    assert not program.exists()


def test_a_cxx_program_is_linked_with_its_library(tmp_path: Path) -> None:
    text = "#include <string>\nint main() { return std::string(5, 'a').size(); }\n"
    benchmark = make_benchmark_from_source(text, lang="c++")
    with link_program("gcc-12", object_of(benchmark, tmp_path), benchmark) as program:
        assert subprocess.run([program], check=False).returncode == 5


def test_a_failed_link_gives_the_reason(tmp_path: Path) -> None:
    benchmark = make_benchmark_from_source(TEXT)  # without -lm
    with (
        pytest.raises(BenchmarkInitError, match="gcc-12 cannot link the program"),
        link_program("gcc-12", object_of(benchmark, tmp_path), benchmark),
    ):
        pass


def test_a_reference_is_the_unchanged_program_and_is_built_once() -> None:
    needed("gcc-12")
    benchmark = make_benchmark_from_source(TEXT, run=SPEC)
    reference = build_reference("gcc-12", benchmark, SPEC)
    assert reference.run(RunCase()).exit_status == 3
    assert build_reference("gcc-12", benchmark, SPEC) is reference


def test_a_reference_that_does_not_compile_says_so_when_it_is_run() -> None:
    needed("gcc-12")
    spec = RunSpec((RunCase(),))
    benchmark = make_benchmark_from_source("int main(", run=spec)
    with pytest.raises(BenchmarkInitError, match="does not compile at -O0"):
        build_reference("gcc-12", benchmark, spec).run(RunCase())


def test_the_reference_of_another_ones_program_reads_no_file_of_the_user(tmp_path: Path) -> None:
    needed("gcc-12")
    secret = tmp_path / "secret.h"
    secret.write_text("int main(void) { return 4; }\n")
    own = make_benchmark_from_source(f'#include "{secret}"\n', run=SPEC)
    assert build_reference("gcc-12", own, SPEC).run(RunCase()).exit_status == 4
    foreign = Benchmark("benchmark://somebody-v0/reader", own.contents, run=SPEC)
    with pytest.raises(BenchmarkInitError, match=r"secret\.h: No such file"):
        build_reference("gcc-12", foreign, SPEC).run(RunCase())
