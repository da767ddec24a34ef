# SPDX-License-Identifier: MIT
"""Programs from source are what clang's front end makes of them, and nothing else is guessed."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import RunSpec
from compiler_gym.envs.llvm.programs.source import (
    EMIT_FLAGS,
    ClangInvocation,
    get_system_library_flags,
    make_benchmark,
    make_benchmark_from_source,
    read_program,
    with_libraries,
)
from compiler_gym.errors import BenchmarkInitError, CompilerGymWarning

Tool = Callable[..., bytes]
pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
IR = "define i32 @f() {\n  ret i32 3\n}\n"


def test_a_source_becomes_the_ir_that_clang_prints_before_any_pass(
    project: Path, tool: Tool
) -> None:
    ours = tool("llvm-dis-22", "-o", "-", input=read_program(project / "part.c", ["-Iinclude"]))
    flags = ("-O2", "-Xclang", "-disable-llvm-passes", "-fno-ident", "-Iinclude")
    theirs = tool("clang-22", *flags, "-S", "-emit-llvm", "part.c", "-o", "-")

    def bodies(printed: bytes) -> list[str]:
        return re.findall(r"^define .*?^\}", printed.decode(), re.S | re.M)

    assert bodies(ours) == bodies(theirs) != []
    assert b"!dbg" not in ours


def test_ir_and_bitcode_are_read_as_they_are(project: Path, tool: Tool) -> None:
    (project / "a.ll").write_text(IR)
    bitcode = tool("llvm-as-22", "-o", "-", project / "a.ll")
    (project / "nameless").write_bytes(bitcode)
    assert read_program(project / "a.ll") == IR.encode()
    assert read_program(project / "nameless") == bitcode


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.txt", r"unknown type of file a\.txt; its name must end in \.bc, \.ll, \.c"),
        ("nothing.c", "cannot read nothing.c: No such file"),
        ("include", "include is a directory"),
        ("/dev/null", "a pipe or a device"),
        ("a\0b.c", "cannot read"),
        ("wrong.c", "clang cannot compile wrong.c:\n(.|\n)*error"),
    ],
)
def test_an_invalid_program_is_refused(project: Path, name: str, message: str) -> None:
    (project / "a.txt").write_text("text")
    (project / "wrong.c").write_text("int main( {")
    with pytest.raises(BenchmarkInitError, match=message):
        read_program(Path(name))


def test_a_clang_that_hangs_or_is_missing_is_reported(tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    with pytest.raises(BenchmarkInitError, match=r"did not finish within 0\.2 s: a\.c"):
        ClangInvocation(("a.c",), driver=str(slow), timeout=0.2).run()
    with pytest.raises(BenchmarkInitError, match="cannot run clang: "):
        ClangInvocation(("a.c",), driver="/nowhere/clang").run()


def test_the_bitcode_does_not_depend_on_where_the_file_is(project: Path) -> None:
    found = [
        ClangInvocation.from_c_file(folder / "part.c", ["-I."]).run()
        for folder in (copied(project, "here"), copied(project, "some/where/else"))
    ]
    assert found[0] == found[1]


def copied(project: Path, name: str) -> Path:
    folder = project / name
    folder.mkdir(parents=True)
    for file in (project / "part.c", project / "include/part.h"):
        shutil.copy(file, folder)
    return folder


def test_a_command_names_the_compiler_the_arguments_and_what_makes_it_a_front_end() -> None:
    words = ClangInvocation(("a.c", "-DX"), driver="mine").command("out.bc")
    assert words[:3] == ["mine", "a.c", "-DX"]
    assert words[-2:] == ["-o", "out.bc"]
    assert set(EMIT_FLAGS) - {"-Xclang", "-disable-llvm-passes"} < set(words)
    instrumented = ClangInvocation(("a.c", "--coverage"), driver="mine").command("out.bc")
    assert instrumented == ["mine", "a.c", "--coverage", *EMIT_FLAGS, "-o", "out.bc"]


def test_several_files_become_one_program_that_remembers_its_sources(
    project: Path, tool: Tool
) -> None:
    made = make_benchmark(["main.c", Path("part.c")], ["-Iinclude", "-DN=1"])
    assert [source.filename for source in made.sources] == ["main.c", "part.c"]
    names = re.findall(
        r"^define .*@(\w+)\(", tool("llvm-dis-22", input=made.contents).decode(), re.M
    )
    assert sorted(names) == ["main", "part"]
    (project / "a.ll").write_text(IR)
    assert list(make_benchmark("a.ll").sources) == []


def test_equal_programs_share_a_name() -> None:
    one, same, other = (
        make_benchmark_from_source(f"int f() {{ return {n}; }}", lang="c") for n in (1, 1, 2)
    )
    assert one.uri == same.uri != other.uri
    (source,) = one.sources
    assert (source.filename, source.contents) == ("source.c", b"int f() { return 1; }")


@pytest.mark.parametrize("inputs", [3, [None], [b"main.c"]])
def test_inputs_of_another_kind_are_refused(inputs: object) -> None:
    with pytest.raises(TypeError, match="inputs must be paths or ClangInvocations"):
        make_benchmark(inputs)  # type: ignore[arg-type]  # what is tried
    with pytest.raises(BenchmarkInitError, match="no input files"):
        make_benchmark([])


def test_libraries_of_the_language_are_linked_unless_some_are_named() -> None:
    plain, own = RunSpec.single(), RunSpec.single(link=("-lz",))
    assert with_libraries(None, True) is None
    assert with_libraries(own, True) is own
    assert [spec.link for cxx in (True, False) if (spec := with_libraries(plain, cxx))] == [
        ("-lstdc++", "-lm"),
        ("-lm",),
    ]


def test_the_headers_of_the_system_are_where_a_compiler_finds_them() -> None:
    flags = get_system_library_flags()
    assert set(flags[::2]) == {"-isystem"}
    assert any((Path(folder) / "stdio.h").is_file() for folder in flags[1::2])
    command = ["clang-22", "-nostdinc", *flags, "-fsyntax-only", "-x", "c", "-"]
    subprocess.run(command, input=b"#include <stdio.h>\n#include <stddef.h>\n", check=True)
    with pytest.raises(BenchmarkInitError, match="true does not print its header folders"):
        get_system_library_flags("true")
    with pytest.raises(BenchmarkInitError, match="cannot run no-such-compiler: No such file"):
        get_system_library_flags("no-such-compiler")


@pytest.mark.parametrize(
    "flags", [("-O0",), ("-O0", "-fno-ident", "-Xclang", "-disable-O0-optnone"), ("-O0", "-S")]
)
def test_ir_compiled_without_optimisation_is_read_with_a_warning(
    flags: tuple[str, ...], project: Path, tool: Tool
) -> None:
    path = project / ("part.ll" if "-S" in flags else "part.bc")
    tool("clang-22", *(("-c",) if "-S" not in flags else ()), *flags, "-emit-llvm",
         "-Iinclude", "part.c", "-o", path.name)  # fmt: skip
    with pytest.warns(CompilerGymWarning, match="neither TBAA nor lifetime markers"):
        assert read_program(path) == path.read_bytes()


@pytest.mark.parametrize("flags", [("-O2",), ("-Oz", "-Xclang", "-disable-llvm-passes")])
def test_ir_with_what_passes_need_is_read_in_silence(
    flags: tuple[str, ...], project: Path, tool: Tool
) -> None:
    source = project / "loads.c"
    source.write_text("int load(int *p) { return *p; }\n")
    tool("clang-22", "-c", *flags, "-emit-llvm", "loads.c", "-o", "loads.bc")
    assert read_program(project / "loads.bc")


def test_handwritten_ir_is_read_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "f.ll"
    path.write_text(IR)
    assert read_program(path) == IR.encode()
