# SPDX-License-Identifier: MIT
"""Files are read whatever is in them, and everything that is not ELF is refused with a reason."""

import os
import struct
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import ProjectError
from compiler_gym.tools.sizes import Grouping, Part, PartSize, measure_file
from compiler_gym.tools.sizes.binary import read_binaries

from .conftest import BUILDS, Build, analyse

CLANG = "clang-22 -O2 -fuse-ld=lld"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty: pass a program"),
        (b"#!/bin/sh\necho\n", "is a script: pass the program that it starts"),
        (b"MZ\x90\0" + bytes(100), "is a Windows program"),
        (b"\xcf\xfa\xed\xfe" + bytes(100), "is a macOS file"),
        (b"\0asm\1\0\0\0", "is a WebAssembly module"),
        (b"BC\xc0\xde" + bytes(100), "is LLVM bitcode: link it"),
        (b"!<thin>\n", "is a thin archive"),
        (b"hello, world", "is not an ELF file"),
        (b"\x7fELF", "is damaged or cut off"),
        (b"\x7fELF\2\1\1" + bytes(20), "is damaged or cut off"),
        (b"\x7fELF\7\1\1" + bytes(80), "neither 32 nor 64 bits"),
        (b"\x7fELF\2\7\1" + bytes(80), "the byte order is unknown"),
        (b"!<arch>\n", "contains no ELF file"),
    ],
)
def test_a_file_that_is_not_elf_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ProjectError, match=reason):
        measure_file(path)


def test_unreadable_input_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, reason in (("", "is a folder"), ("none", "No such file"), ("pipe", "a pipe or")):
        with pytest.raises(ProjectError, match=reason):
            measure_file(tmp_path / name)


def test_split_debug_information_is_refused(build: Build, tmp_path: Path) -> None:
    program, debug = build("c", "gcc -O1 -g -gz"), tmp_path / "program.debug"
    subprocess.run(["objcopy", "--only-keep-debug", str(program), str(debug)], check=True)
    with pytest.raises(ProjectError, match="only split debug information: pass the program"):
        measure_file(debug)
    source = tmp_path / "a.c"
    source.write_text("int f(void) { return 1; }\n")
    subprocess.run(["clang-22", "-g", "-gsplit-dwarf", "-c", "a.c"], cwd=tmp_path, check=True)
    with pytest.raises(ProjectError, match="only split debug information: pass its object"):
        measure_file(tmp_path / "a.dwo")
    assert measure_file(tmp_path / "a.o").loaded > 0


def test_a_packed_program_is_refused(build: Build, tmp_path: Path) -> None:
    data = bytearray(build("c", CLANG).read_bytes())
    data[40:48], data[60:64] = bytes(8), bytes(4)  # UPX leaves no section headers
    data[0x200:0x204] = b"UPX!"
    (tmp_path / "packed").write_bytes(data)
    with pytest.raises(ProjectError, match="packed by UPX: unpack it first, with `upx -d`"):
        measure_file(tmp_path / "packed")


def test_a_core_dump_is_refused(build: Build, tmp_path: Path) -> None:
    data = bytearray(build("c", CLANG).read_bytes())
    data[16] = 4
    (tmp_path / "core").write_bytes(data)
    with pytest.raises(ProjectError, match="core dump: pass the program that crashed"):
        measure_file(tmp_path / "core")


def test_an_archive_has_its_members(build: Build, tmp_path: Path) -> None:
    objects = [build("c", f"gcc -O{level} -c") for level in (1, 2)]
    (tmp_path / "notes.txt").write_text("odd")
    archive = tmp_path / "lib.a"
    subprocess.run(["ar", "rcs", str(archive), *map(str, objects), "notes.txt"], cwd=tmp_path,
                   check=True)  # fmt: skip
    report = measure_file(archive)
    assert report.total == archive.stat().st_size
    loaded = {path.name: measure_file(path).loaded for path in objects}
    assert {row.name: row.loaded for row in report.owners[Grouping.MEMBER]} == loaded
    archive.write_bytes(archive.read_bytes()[:-100])
    with pytest.raises(ProjectError, match=r"cut off in its member|damaged"):
        measure_file(archive)


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("clang", "x86-64 executable, position-independent"),
        ("clang fixed", "x86-64 executable"),
        ("static pie", "x86-64 executable, position-independent"),
        ("gcc object", "x86-64 object"),
        ("riscv32", "RISC-V shared library"),
        ("arm thumb", "ARM executable"),
        ("mips", "MIPS shared library"),
        ("powerpc64", "PowerPC64 object"),
        ("rustc stripped", "x86-64 executable, position-independent, stripped"),
    ],
)
def test_a_description_names_machine_and_type(build: Build, name: str, description: str) -> None:
    assert analyse(build(*BUILDS[name])).binary.description == description


def test_a_library_with_an_interpreter_is_a_library(build: Build) -> None:
    name = "/lib64/ld-linux-x86-64.so.2"
    source = f'const char path[] __attribute__((section(".interp"))) = "{name}"; int f = 1;'
    binary = analyse(build(source, "gcc -shared -fPIC")).binary
    assert 3 in binary.segments["kind"]
    assert binary.description == "x86-64 shared library"


@pytest.mark.parametrize("flags", ["-z,rodynamic", "-z,norelro"])
def test_a_program_has_one_of_two_marks(build: Build, tmp_path: Path, flags: str) -> None:
    data = bytearray(build("c", f"{CLANG} -Wl,{flags}").read_bytes())
    flag, place = struct.pack("<QQ", 0x6FFFFFFB, 0x08000000), 0
    if flags == "-z,norelro":  # older linkers do not set the flag
        place = data.index(flag)
        data[place + 8 : place + 16] = bytes(8)
    (tmp_path / "program").write_bytes(data)
    assert analyse(tmp_path / "program").binary.is_program


def test_members_without_machine_code_are_named(build: Build, tmp_path: Path) -> None:
    native, bitcode = build("c", "clang-22 -c"), build("c", "clang-22 -flto -c")
    gcc, fat = build("c", "gcc -flto -c"), build("c", "gcc -flto -ffat-lto-objects -c")
    (tmp_path / "notes.txt").write_text("odd")
    archive, command = tmp_path / "lib.a", ["llvm-ar-22", "rcs"]
    subprocess.run(
        [*command, archive, native, bitcode, gcc, fat, tmp_path / "notes.txt"], check=True
    )
    report = measure_file(archive)
    assert report.description == "archive of 5 members, 3 not counted"
    assert report.notes == [
        f"Not counted: {bitcode.name} (LLVM bitcode), {gcc.name} (GCC's intermediate code), "
        "notes.txt (not an ELF file). To count intermediate code, link it and pass the program."
    ]
    assert report.to_json()["notes"] == report.notes
    assert len(measure_file(gcc).notes) == 1
    assert measure_file(fat).notes == measure_file(native).notes == []
    for number in range(5):
        (tmp_path / f"{number}").write_text("odd")
    subprocess.run([*command, archive, *map(str, range(5))], cwd=tmp_path, check=True)
    assert "notes.txt (not an ELF file) and 5 others. To" in measure_file(archive).notes[0]


@pytest.mark.parametrize("names", ["all", "some"])
def test_debug_information_in_the_older_compressed_form_is_read(
    build: Build, tmp_path: Path, names: str
) -> None:
    functions = "".join(f"int f{i}(int n) {{ return n * {i}; }}\n" for i in range(200))
    whole = build(functions, "gcc -O1 -g -c")
    flag = "--compress-debug-sections=zlib-gnu"
    subprocess.run(["objcopy", flag, whole, tmp_path / "packed.o"], check=True)
    if names == "all":
        data = (tmp_path / "packed.o").read_bytes().replace(b"\0.debug_", b"\0.zebug_")
        (tmp_path / "packed.o").write_bytes(data)
    packed, expected = measure_file(tmp_path / "packed.o"), measure_file(whole)
    assert packed.loaded == expected.loaded
    relocations = packed.parts.get(Part.RELOCATIONS, PartSize()).total
    assert relocations == expected.parts.get(Part.RELOCATIONS, PartSize()).total


def test_an_object_without_symbols_is_stripped_if_it_has_code(build: Build, tmp_path: Path) -> None:
    for source, names in (("int f(void) { return 1; }", ["f.o"]), ("", [])):
        path = tmp_path / "f.o"
        flags = ["--strip-all", "--remove-section=.note.GNU-stack"]
        subprocess.run(["objcopy", *flags, build(source, "gcc -c"), path], check=True)
        notes = measure_file(path).notes
        assert [note.split()[1].rstrip(".") for note in notes] == names


def test_addresses_lead_to_bytes_of_the_file(build: Build) -> None:
    binary = analyse(build("c", CLANG)).binary
    symbols = binary.symbols
    index = symbols.name.index("names") if "names" in symbols.name else symbols.name.index("table")
    (place,) = binary.offsets(symbols["value"][[index]]).tolist()
    assert place >= 0
    assert binary.offsets(np.array([0x7FFF_FFFF_0000, -8])).tolist() == [-1, -1]


@given(data=st.data())
def test_no_bytes_lead_to_a_traceback(build: Build, tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(
        st.sampled_from(["clang", "clang++ -g", "gcc object", "x86", "mips", "arm", "powerpc64"])
    )
    original = build(*BUILDS[name]).read_bytes()
    mutated = bytearray(original)
    headers = int.from_bytes(original[40:48], "little") % len(original)
    places = st.one_of(
        st.integers(0, 63),
        st.integers(headers, min(headers + 3000, len(original) - 1)),
        st.integers(0, len(original) - 1),
    )
    values = st.one_of(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]), st.integers(0, 255))
    for place, value in data.draw(st.lists(st.tuples(places, values), max_size=12)):
        mutated[place] = value
    if data.draw(st.booleans()):
        del mutated[data.draw(st.integers(0, len(mutated))) :]
    path = tmp_path / "mutated"
    path.write_bytes(mutated)
    with suppress(ProjectError):
        assert measure_file(path).total == len(mutated)


def test_the_bytes_of_a_file_are_read_once(build: Build) -> None:
    path = build("c", CLANG)
    data, members = read_binaries(path)
    assert data == path.read_bytes()
    assert [member.size for member in members] == [len(data)]
