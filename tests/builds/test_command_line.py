# SPDX-License-Identifier: MIT
"""Command lines of gcc and clang, taken apart: what is kept, dropped, linked and refused."""

from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand, Mode, Source, iterate_arguments, watch
from compiler_gym.envs.llvm.programs.builds import make_invocation
from compiler_gym.errors import BenchmarkInitError


def parsed(text: str, cwd: str = "/build") -> CompilerCommand:
    return CompilerCommand.from_text(text, cwd)


@pytest.mark.parametrize(
    ("command", "mode"),
    [
        ("gcc a.c", Mode.PROGRAM),
        ("gcc -c a.c", Mode.OBJECT),
        ("gcc -S a.c", Mode.ASSEMBLY),
        ("gcc -c -S a.c", Mode.ASSEMBLY),
        ("gcc -S -c a.c", Mode.ASSEMBLY),
        ("gcc -E -c a.c", Mode.NOTHING),
        ("gcc -MM a.c", Mode.NOTHING),
        ("gcc -fsyntax-only a.c", Mode.NOTHING),
        ("gcc --version a.c", Mode.NOTHING),
        ("gcc -print-search-dirs a.c", Mode.NOTHING),
        ("gcc -O2", Mode.NOTHING),
        ("gcc a.o", Mode.PROGRAM),
    ],
)
def test_a_command_names_its_output(command: str, mode: Mode) -> None:
    assert parsed(command).mode is mode


def test_words_are_sorted_into_flags_and_what_the_linker_needs() -> None:
    command = parsed("gcc -Iinc -D N=1 a.c b.o -Lx -lm -Wl,--gc-sections -Xlinker -v -std=c11")
    assert command.flags == ("-Iinc", "-D", "N=1", "-std=c11")
    assert command.sources == (Source("a.c"),)
    assert command.objects == ("b.o",)
    assert command.link_flags == ("-Lx", "-lm", "-Wl,--gc-sections", "-Xlinker", "-v")


def test_the_linker_sees_objects_and_libraries_in_their_order() -> None:
    command = parsed("gcc -la x.o -lb y.a main.c")
    assert command.link_words == ("-la", "x.o", "-lb", "y.a")


@pytest.mark.parametrize(
    "dropped",
    [
        "-g",
        "-ggdb3",
        "-MD",
        "-MF a.d",
        "-MT a.o",
        "-Wp,-MD,a.d",
        "-flto=thin",
        "-pipe",
        "-Werror",
        "-save-temps",
        "-Wa,-q",
        "-fdump-tree-all",
        "-fdiagnostics-color=always",
    ],
)
def test_options_without_effect_on_code_are_dropped_with_their_values(dropped: str) -> None:
    assert parsed(f"gcc -c {dropped} a.c").flags == ()
    assert parsed(f"gcc -c {dropped} a.c").sources == (Source("a.c"),)


@pytest.mark.parametrize(
    ("flags", "level"), [("", "-O0"), ("-O2", "-O2"), ("-O3 -Os", "-Os"), ("-Ofast -O", "-O")]
)
def test_the_last_level_counts_and_is_not_a_flag(flags: str, level: str) -> None:
    command = parsed(f"gcc {flags} -c a.c")
    assert (command.level, command.flags) == (level, ())


def test_a_language_holds_until_it_is_taken_back() -> None:
    command = parsed("gcc -x c++ a.c -xc b -x none c.c")
    assert command.sources == (Source("a.c", "c++"), Source("b", "c"), Source("c.c"))


def test_assembly_is_linked_and_said_to_be_assembly() -> None:
    command = parsed("gcc a.s -x assembler-with-cpp b.c -x none c.o")
    assert command.sources == ()
    assert command.objects == ("a.s", "b.c", "c.o")
    assert command.assembly == ("a.s", "b.c")
    assert command.link_words[1:5] == ("-x", "assembler-with-cpp", "b.c", "-x")


def test_headers_are_not_sources() -> None:
    assert parsed("gcc -c a.h").sources == parsed("gcc -x c-header -c a.c").sources == ()


def test_after_two_dashes_all_are_files() -> None:
    assert parsed("clang -c -- -odd.c").sources == (Source("-odd.c"),)


@pytest.mark.parametrize(
    "launched", ["ccache gcc", "env CC=x gcc", "CC=x A=b gcc", "libtool --mode=compile gcc"]
)
def test_launchers_are_taken_off(launched: str) -> None:
    assert parsed(f"{launched} -c a.c").words == ("gcc", "-c", "a.c")


def test_a_response_file_stands_for_its_words(tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("-DB 'b c.c'")
    (tmp_path / "outer").write_text("-DA @inner")
    command = CompilerCommand.parse(["gcc", "-c", "@outer", "@missing"], tmp_path)
    assert command.flags == ("-DA", "-DB")
    assert [source.name for source in command.sources] == ["b c.c"]
    assert command.objects == ("@missing",)


def test_a_response_file_that_names_itself_ends_where_gcc_gives_up(tmp_path: Path) -> None:
    (tmp_path / "again").write_text("-DA @again")
    flags = CompilerCommand.parse(["gcc", "-c", "a.c", "@again"], tmp_path).flags
    assert flags == ("-DA",) * watch.MOST_FILES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the compiler command is empty"),
        ("gcc 'a.c", "cannot read the command: No closing quotation"),
        ("gcc -c a.c && gcc -c b.c", "use a single command, without '&&'"),
        ("gcc -c a.c -o", "-o needs a value"),
        ("gcc -c a.c -I", "-I needs a value"),
    ],
)
def test_an_invalid_command_is_refused(text: str, message: str) -> None:
    with pytest.raises(BenchmarkInitError, match=message):
        parsed(text)


def test_a_quote_that_a_response_file_leaves_open_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("-DA='open \\")
    assert CompilerCommand.parse(["gcc", "-c", "@words"], tmp_path).flags == ("-DA=open ",)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("gcc -c dir/a.c", "a.o"),
        ("gcc -S dir/a.c", "a.s"),
        ("clang -c -emit-llvm a.c", "a.bc"),
        ("clang -S -emit-llvm a.c", "a.ll"),
        ("gcc a.c", "a.out"),
        ("gcc -c a.c -omade.o", "made.o"),
        ("gcc -c a.c --output b.o", "b.o"),
    ],
)
def test_a_source_becomes_a_file(command: str, output: str) -> None:
    found = parsed(command)
    assert found.find_output(found.sources[0]) == Path("/build") / output


@pytest.mark.parametrize(
    ("command", "is_cxx"),
    [
        ("gcc a.c", False),
        ("gcc a.cpp", True),
        ("g++ a.c", True),
        ("gcc -x c++ a", True),
        ("gcc a.o", False),
    ],
)
def test_a_command_of_cxx_is_recognised_by_its_driver_or_sources(
    command: str, is_cxx: bool
) -> None:
    assert parsed(command).is_cxx is is_cxx


def test_an_invocation_repeats_the_flags_in_the_directory_of_the_command() -> None:
    command = parsed("gcc -DN=1 -O3 -c /build/src/a.c -o a.o")
    run = make_invocation(command, command.sources[0], timeout=5)
    assert (run.args, run.cwd) == (("-DN=1", "-x", "c", "src/a.c"), Path("/build"))
    assert (run.timeout, run.sources) == (5, (Path("/build/src/a.c"),))


@pytest.mark.parametrize(
    ("command", "language"),
    [
        ("gcc -c a.c", "c"),
        ("g++-12 -c a.c", "c++"),
        ("clang++ -c a.cc", "c++"),
        ("clang -c a.ll", "ir"),
        ("gcc -x cpp-output -c a", "cpp-output"),
    ],
)
def test_an_invocation_names_the_language(command: str, language: str) -> None:
    found = parsed(command)
    assert found.arguments(found.sources[0])[:2] == ("-x", language)


def test_a_precompiled_header_of_another_level_is_taken() -> None:
    command = parsed("gcc -include all.h -c a.c")
    args = command.arguments(command.sources[0])
    assert args[:4] == ("-Xclang", "-fno-validate-pch", "-include", "all.h")


def test_flags_that_clang_does_not_know_can_be_left_out() -> None:
    command = parsed("gcc -fgcse-las -DN -c a.c")
    assert command.without_flags({"-fgcse-las"}).flags == ("-DN",)


def test_a_name_that_begins_with_a_dash_stays_a_name() -> None:
    command = CompilerCommand.parse(["cc", "-c", "--", "-fplugin=x.c"])
    (source,) = command.sources
    assert command.arguments(source)[-1] == "./-fplugin=x.c"
    linked = CompilerCommand.parse(["cc", "-o", "x", "--", "-Wl,-x.o"])
    assert linked.link_words == linked.objects == ("./-Wl,-x.o",)


def test_values_belong_to_the_arguments_before_them() -> None:
    arguments = list(iterate_arguments(["-Xlinker", "-x", "-x", "c", "a.c", "-Ib", "--", "-o"]))
    assert [(one.at, one.word, one.value) for one in arguments] == [
        (0, "-Xlinker", "-x"),
        (2, "-x", "c"),
        (4, "a.c", ""),
        (5, "-Ib", ""),
        (7, "-o", ""),
    ]
    assert [one.is_file for one in arguments] == [False, False, True, False, True]
