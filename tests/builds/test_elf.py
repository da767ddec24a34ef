# SPDX-License-Identifier: MIT
"""Sizes, symbols and members are those that LLVM's own tools report."""

import os
import re
import shutil
import struct
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compiler_gym.builds import (
    function_sizes,
    is_archive,
    is_shared_library,
    is_thin_archive,
    iterate_members,
    locate_members,
    measure_sizes,
    measure_unwinding,
    read_exported_symbols,
    read_interface,
    read_members,
    read_needed_symbols,
)
from compiler_gym.errors import ProjectError
from tests.effort import examples
from tests.tools.tune.builds.projects import write_project


def test_members_come_as_they_were_put_in(tmp_path: Path) -> None:
    contents = [b"one", b"four", b"a longer one"]
    for number, data in enumerate(contents):
        (tmp_path / f"{number}-{'long' * 10}.o").write_bytes(data)
    archive = tmp_path / "lib.a"
    names = sorted(path.name for path in tmp_path.iterdir())
    subprocess.run(["ar", "rcs", archive.name, *names], cwd=tmp_path, check=True)
    assert is_archive(archive)
    assert list(iterate_members(archive.read_bytes())) == contents


def test_members_have_their_names(tmp_path: Path) -> None:
    names = ["a.o", "b-" + "long" * 20 + ".o", "c-" + "longer" * 20 + ".o"]
    for name in names:
        (tmp_path / name).write_text(name)
    subprocess.run(["ar", "rcs", "lib.a", *names], cwd=tmp_path, check=True)
    data = (tmp_path / "lib.a").read_bytes()
    found = {name: data[start : start + size] for name, start, size in locate_members(data)}
    assert found == {name: name.encode() for name in names}


def test_names_of_bsd_archives_stand_before_the_members() -> None:
    header = b"#1/8".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8)
    data = b"!<arch>\n" + header + b"13".ljust(10) + b"`\n" + b"name.o\0\0hello"
    ((name, start, size),) = locate_members(data)
    assert (name, data[start : start + size]) == ("name.o", b"hello")


def test_a_cut_archive_says_where_it_ends(tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(b"x" * 100)
    subprocess.run(["ar", "rc", "lib.a", "a.o"], cwd=tmp_path, check=True)
    assert list(iterate_members((tmp_path / "lib.a").read_bytes()[:-20])) == [None]


def test_an_invalid_archive_is_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("!<arch")
    assert not is_archive(tmp_path / "text")
    assert not is_archive(tmp_path / "missing")


def test_a_thin_archive_has_the_files_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    names = ["sub/a.o", "b.o", "c-" + "long" * 20 + ".o", "d.o"]
    for name in names:
        (tmp_path / name).write_text(name)
    subprocess.run(["ar", "rcsT", "lib.a", *names], cwd=tmp_path, check=True)
    archive = tmp_path / "lib.a"
    assert is_archive(archive)
    assert is_thin_archive(archive)
    (tmp_path / "d.o").unlink()
    contents = [*(name.encode() for name in names[:3]), None]
    assert list(read_members(archive)) == list(zip(names, contents, strict=True))
    assert list(iterate_members(archive.read_bytes())) == [None]


def test_members_are_read_with_their_names(tmp_path: Path) -> None:
    for name in ("a.o", "b.o"):
        (tmp_path / name).write_text(name)
    words = ["ar", "qcs", "lib.a", "a.o", "b.o", "a.o"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert list(read_members(tmp_path / "lib.a")) == [
        ("a.o", b"a.o"),
        ("b.o", b"b.o"),
        ("a.o", b"a.o"),
    ]
    assert not is_thin_archive(tmp_path / "lib.a")


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
    sizes = {name: int(size) for name, size, *_ in map(str.split, listed.splitlines()[2:-2])}
    assert measure_sizes(program).text == sizes[".text"]
    assert measure_sizes(program).total == program.stat().st_size
    assert measure_unwinding(program) == sizes[".eh_frame"] + sizes[".eh_frame_hdr"] > 0


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
    assert {"main", "twice", "unused"} <= read_exported_symbols(program)
    assert {"printf", "twice"} <= read_needed_symbols(program.with_name("main.o"))
    assert "main" not in read_needed_symbols(program.with_name("lib.a"))
    assert "twice" in read_needed_symbols(program.with_name("lib.a"))


def test_other_definitions_replace_weak_and_common_symbols(tmp_path: Path) -> None:
    source = "__attribute__((weak)) int a(void) { return 1; } int b; int c = 1; int d(void);"
    (tmp_path / "x.c").write_text(f"{source} int e(void) {{ return a() + d(); }}\n")
    subprocess.run(["cc", "-fcommon", "-c", "x.c"], cwd=tmp_path, check=True)
    assert read_needed_symbols(tmp_path / "x.o") == {"a", "b", "d"}
    subprocess.run(["ar", "rcs", "x.a", "x.o"], cwd=tmp_path, check=True)
    assert "d" in read_needed_symbols(tmp_path / "x.a", {"x.o"})
    assert read_needed_symbols(tmp_path / "x.a", {"y.o"}) == set()


def test_the_interface_of_a_file_has_no_copies_and_no_weak_symbols(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("""
        extern char **environ; extern int optind; __attribute__((weak)) int weak(void) { return 1; }
        int strong(void) { return optind + !environ; } int main(void) { return strong() + weak(); }
    """)
    command = [
        "cc",
        "-no-pie",
        "-fno-pic",
        "-rdynamic",
        "x.c",
        "-Wl,--no-as-needed",
        "-lm",
        "-o",
        "x",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    symbols, libraries = read_interface(tmp_path / "x")
    assert "optind" in read_exported_symbols(tmp_path / "x")
    assert {"strong", "main", "weak", "optind"} & symbols == {"strong", "main"}
    assert libraries == {"libm.so.6", "libc.so.6"}


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    with pytest.raises(ProjectError, match="is not a 64-bit"):
        measure_sizes(tmp_path / "text")


def test_a_cut_file_is_refused(program: Path, tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(program.read_bytes()[:2000])
    with pytest.raises(ProjectError, match="cut off"):
        measure_sizes(tmp_path / "cut")


def test_a_shared_library_is_distinguished_from_an_object(program: Path, tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", program.with_name("twice.c"), "-o", library], check=True
    )
    assert is_shared_library(library)
    assert not is_shared_library(program.with_name("main.o"))
    assert not is_shared_library(program.with_name("main.c"))
    assert not is_shared_library(tmp_path / "missing")


@settings(max_examples=examples(300))
@given(
    name=st.sampled_from(["program", "main.o", "lib.a"]),
    where=st.integers(0, 1 << 20),
    field=st.sampled_from(["<B", "<H", "<I", "<Q"]),
    value=st.sampled_from([0, 1, 2, 11, 0xFF, 0xFFFF, 1 << 31, (1 << 64) - 1]) | st.integers(0),
    in_header=st.booleans(),
    cut=st.none() | st.integers(0, 1 << 15),
)
@example("main.o", 62, "<H", 0xFFF0, True, None)  # the index of the table of names
@example("main.o", 40, "<Q", (1 << 64) - 1, True, None)
def test_a_damaged_file_is_read_or_refused_by_name(
    program: Path, name: str, where: int, field: str, value: int, in_header: bool, cut: int | None
) -> None:
    data = bytearray(program.with_name(name).read_bytes())
    begin = data.find(b"\x7fELF") if in_header else 0
    (table,) = struct.unpack_from("<Q", data, begin + 40)
    size = struct.calcsize(field)
    at = begin + where % 64 if in_header else (table + where) % len(data)
    at = min(at, len(data) - size)
    struct.pack_into(field, data, at, value % (1 << 8 * size))
    damaged = program.with_name("damaged")
    damaged.write_bytes(data[:cut])
    for read in (measure_sizes, function_sizes, read_interface, read_needed_symbols):
        with suppress(ProjectError):
            read(damaged)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An object with more sections than its header can count."""
    path = tmp_path_factory.mktemp("many") / "many.o"
    part = '.section .text.f{0},"ax"\n.type f{0},@function\nf{0}: call g\nret\n.size f{0},.-f{0}\n'
    text = ".text\n.globl main\nmain: ret\n" + "".join(part.format(i) for i in range(66_000))
    path.with_suffix(".s").write_text(text)
    subprocess.run(["as", path.with_suffix(".s"), "-o", path], check=True)
    return path


@pytest.mark.slow
def test_more_sections_than_a_header_can_count_are_all_read(many: Path) -> None:
    assert struct.unpack_from("<HH", many.read_bytes(), 60) == (0, 0xFFFF)
    assert measure_sizes(many).text == 1
    sizes = function_sizes(many)
    assert len(sizes) == 66_000
    assert set(sizes.values()) == {6}
    assert read_needed_symbols(many) == {"g"}


@pytest.mark.skipif(shutil.which("llvm-readelf-22") is None, reason="needs llvm-readelf-22")
def test_symbols_and_sizes_are_those_of_the_tools_of_llvm(program: Path, many: Path) -> None:
    for path in (program, program.with_name("main.o"), many):
        listed = subprocess.run(
            ["llvm-readelf-22", "-sW", path], capture_output=True, text=True, check=True
        ).stdout
        row = re.compile(r"^ +\d+: [0-9a-f]+ +(\d+) (\w+) +(\w+) +\w+ +(\w+) (\S+)$", re.MULTILINE)
        table = listed[listed.index("'.symtab'") :]
        rows = [found.groups() for found in row.finditer(table)]
        functions = {
            name: int(size) for size, kind, _, at, name in rows if kind == "FUNC" and at != "UND"
        }
        assert {name: size for name, size in functions.items() if size} == function_sizes(path)
        needed = {name for _, _, bound, at, name in rows if at in ("UND", "COM") or bound == "WEAK"}
        assert needed == read_needed_symbols(path)
        shown = subprocess.run(
            ["llvm-size-22", "-A", path], capture_output=True, text=True, check=True
        ).stdout
        text = re.findall(r"^\.text +(\d+)", shown, re.MULTILINE)
        assert measure_sizes(path).text == sum(map(int, text))


def test_an_invalid_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none", tmp_path / "pipe", tmp_path / "a\0b"):
        assert not is_shared_library(path)
        for read in (measure_sizes, function_sizes, read_interface, read_needed_symbols):
            with pytest.raises(ProjectError, match="cannot read"):
                read(path)
