# SPDX-License-Identifier: MIT
"""A program travels as one source text or as an archive of sources with their headers."""

import io
import tarfile
from pathlib import Path

import pytest

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_gcc.programs.source import (
    SourceProgram,
    collect,
    compile_flags,
    headers_for,
    is_cxx,
    pack,
    unpack,
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a project: a source, headers beside it, above it and in an include directory."""
    for name, text in {
        "src/main.c": '#include "near.h"\n#include <api/far.h>\n#include <stdio.h>\n',
        "src/near.h": '#include "../shared/up.h"\n',
        "shared/up.h": "int up;\n",
        "include/api/far.h": '#  include "deep.h"\n',
        "include/api/deep.h": "int deep;\n",
        "include/api/unused.h": "int unused;\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_headers_are_collected_and_nothing_else(tree: Path) -> None:
    program = collect([tree / "src" / "main.c"], ["-Iinclude", "-DX=1"], tree)
    assert program.units == ("src/main.c",)
    assert sorted(program.files) == [
        "include/api/deep.h", "include/api/far.h", "shared/up.h", "src/main.c", "src/near.h",
    ]  # fmt: skip
    assert program.flags == ("-Iinclude", "-DX=1")


def test_where_a_program_lies_does_not_show(tree: Path) -> None:
    here = pack(collect([tree / "src" / "main.c"], ["-I", "include"], tree))
    there = tree.rename(tree.with_name(f"{tree.name}-moved"))
    assert pack(collect([there / "src" / "main.c"], ["-I", "include"], there)) == here


def test_an_include_directory_above_the_files_stays_one(tmp_path: Path) -> None:
    (tmp_path / "include" / "x").mkdir(parents=True)
    (tmp_path / "include" / "x" / "y.h").write_text("int y;\n")
    (tmp_path / "include" / "x" / "m.c").write_text("#include <x/y.h>\n")
    program = collect([tmp_path / "include" / "x" / "m.c"], [f"-I{tmp_path}/include"])
    assert program.units == ("x/m.c",)
    assert program.flags == ("-I.",)


def test_headers_that_include_each_other_are_collected_once(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n')
    assert set(headers_for(b"#include <a.h>\n", tmp_path)) == {"a.h", "b.h"}


@pytest.mark.parametrize(
    "program",
    [
        SourceProgram(("src.c",), {"src.c": b"int x;"}),
        SourceProgram(("a.cc",), {"a.cc": b"class A;"}),
        SourceProgram(("a.c", "b.c"), {"a.c": b"1", "b.c": b"2", "c.h": b"3"}, ("-I.", "-std=c99")),
        SourceProgram(("a.c",), {"a.c": b""}, ("-DX=\u00e9",)),
    ],
    ids=lambda p: ",".join(p.units),
)
def test_a_program_survives_its_packing(program: SourceProgram) -> None:
    assert unpack(pack(program)) == program
    assert pack(program) == pack(unpack(pack(program)))


def test_one_c_file_travels_as_its_text() -> None:
    assert pack(SourceProgram(("src.c",), {"src.c": b"int x;"})) == b"int x;"
    assert unpack(b"int x;").units == ("src.c",)


def archive(**members: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name.replace("__", "/").replace("_json", ".json"))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"\x7fELF\0\0", "binary data"),
        (archive(a=b""), "is damaged"),
        (archive(program_json=b"{"), "is damaged"),
        (archive(program_json=b"[]"), "is damaged"),
        (archive(program_json=b'{"units": ["a.c"], "flags": []}'), "lacks a.c"),
        (archive(program_json=b'{"units": [], "flags": []}'), "lacks sources"),
        (
            archive(program_json=b'{"units": ["../a.c"], "flags": []}'),
            "be outside of its directory",
        ),
        (archive(program_json=b'{"units": ["/a.c"], "flags": []}'), "be outside of its directory"),
        (pack(SourceProgram(("a.c", "b.c"), {"a.c": b"x" * 999, "b.c": b""}))[:1800], "is damaged"),
    ],
)
def test_damaged_contents_are_refused(contents: bytes, reason: str) -> None:
    with pytest.raises(BenchmarkInitError, match=reason):
        unpack(contents)


def test_flags_of_the_preprocessor_are_not_for_the_compiler() -> None:
    flags = ("-Iinclude", "-DX", "-UY", "-std=c11", "-fpermissive")
    assert compile_flags(SourceProgram(("a.c",), {"a.c": b""}, flags)) == (
        "-std=c11",
        "-fpermissive",
    )


@pytest.mark.parametrize(
    ("unit", "cxx"), [("a.c", False), ("a.i", False), ("a.cpp", True), ("a.ii", True)]
)
def test_cxx_is_recognised_by_the_name(unit: str, cxx: bool) -> None:
    assert is_cxx(SourceProgram((unit,), {unit: b""})) is cxx
