# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError
from compiler_gym.registration import find_compiler
from compiler_gym.testing import FakeEnv
from compiler_gym_explorer.programs import (
    detect_format,
    open_named_program,
    open_pasted_program,
    read_source,
)
from compiler_gym_explorer.records import Source

LLVM = find_compiler("llvm-v0")


@pytest.fixture(scope="module")
def env() -> CompilerEnv:
    with compiler_gym.make("llvm-v0") as made:
        return made


def test_programs_are_found_by_address_and_by_path(env: CompilerEnv, tmp_path: Path) -> None:
    file = tmp_path / "a b.c"
    file.write_text("int f(void) { return 1; }\n")
    assert str(open_named_program(env, "cbench-v1/crc32").uri) == "benchmark://cbench-v1/crc32"
    assert open_named_program(env, str(file)).contents
    assert open_named_program(env, f"{file}?goal=speed").parameters == {"goal": "speed"}
    odd = tmp_path / "h\udce9?b.c"
    odd.write_bytes(file.read_bytes())
    assert str(open_named_program(env, str(odd)).uri) == f"file://{tmp_path}/h%E9%3Fb.c"
    with pytest.raises(BenchmarkNotFoundError, match="no such file"):
        open_named_program(env, str(tmp_path / "nothing.c"))
    with pytest.raises(BenchmarkNotFoundError, match="was pasted"):
        open_named_program(env, "benchmark://pasted-v0/12")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (Source(text="int x;"), "C"),
        (Source(text="int x;", language="c++"), "C++"),
        (Source(text="int x;", language="cpp"), "C++"),
        (Source(text="define void @f() {\n  ret void\n}"), "IR"),
    ],
)
def test_a_format_is_told_or_recognised(source: Source, name: str) -> None:
    assert detect_format(LLVM, source).name == name


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(BenchmarkInitError, match="use one of C, C"):
        detect_format(LLVM, Source(text="x", language="Ada"))
    with pytest.raises(BenchmarkInitError, match="unknown format"):
        detect_format(None, Source(text="x"))


def test_the_same_text_is_the_same_program_wherever_it_is_compiled(env: CompilerEnv) -> None:
    source = Source(text="int f(int x) { return x * 3; }\n", language="C")
    one, other = open_pasted_program(env, LLVM, source), open_pasted_program(env, LLVM, source)
    assert (one.uri, one.contents) == (other.uri, other.contents)
    assert str(one.uri).startswith("benchmark://pasted-v0/")
    assert read_source(one) == source.text


def test_sources_of_several_files_are_shown_one_after_another() -> None:
    program = Benchmark.from_file_contents("benchmark://user-v0/x", b"")
    assert read_source(program) == ""
    program.add_source(("a.c", b"int a;"))
    program.add_source(("b.c", b"int b;"))
    assert read_source(program) == "/* a.c */\nint a;\n/* b.c */\nint b;"


def test_an_empty_text_is_not_a_program() -> None:
    with FakeEnv() as env, pytest.raises(BenchmarkInitError, match="empty"):
        open_pasted_program(env, None, Source(text=" \n"))
