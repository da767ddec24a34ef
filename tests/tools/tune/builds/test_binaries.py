# SPDX-License-Identifier: MIT
"""What a linked file was made of: objects, archives, copies, and what nobody knows."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.tools.tune.builds import Binary, Input, find_binaries, list_linked_files
from tests.tools.tune.builds.projects import record, write_project


def found(tmp_path: Path, *command: str) -> dict[str, Binary]:
    tree = write_project(tmp_path / "tree")
    recording = record(tree, tmp_path / "record", *command)
    return {binary.name: binary for binary in find_binaries(recording.events(), tree)}


def names(binary: Binary) -> list[str]:
    return [binary.name_unit(unit) for unit in binary.units]


def test_a_library_of_the_project_is_followed(tmp_path: Path) -> None:
    binary = found(tmp_path, "make")["program"]
    assert names(binary) == ["main.c", "twice.c"]
    assert [input.is_lazy for input in binary.inputs] == [False, True]
    assert not binary.unknown
    assert not binary.is_shared


def test_objects_are_followed_where_they_are_moved(tmp_path: Path) -> None:
    text = "$CC -c main.c && $CC -c twice.c && mkdir o && mv *.o o && $CC o/main.o o/twice.o -o p"
    assert names(found(tmp_path, "sh", "-ec", text)["p"]) == ["main.c", "twice.c"]


def test_a_relocatable_link_is_followed(tmp_path: Path) -> None:
    text = "$CC -c main.c && $CC -c twice.c && $CC -r main.o twice.o -o both.o && $CC both.o -o p"
    assert names(found(tmp_path, "sh", "-ec", text)["p"]) == ["main.c", "twice.c"]


def test_a_relocatable_link_of_other_options_is_unknown(tmp_path: Path) -> None:
    text = "$CC -c main.c twice.c && $CC -r -Wl,-x twice.o -o both.o && $CC main.o both.o -o p"
    binary = found(tmp_path, "sh", "-ec", text)["p"]
    assert [path.name for path in binary.unknown] == ["both.o"]


def test_an_object_that_was_not_compiled_here_is_unknown(tmp_path: Path) -> None:
    text = (
        "echo '.globl twice\ntwice: mov %edi, %eax\nret' > twice.s && $CC -c twice.s -o t.o &&"
        " $CC main.c t.o -o p"
    )
    binary = found(tmp_path, "sh", "-ec", text)["p"]
    assert names(binary) == ["main.c"]
    assert [path.name for path in binary.unknown] == ["t.o"]


def test_a_shared_library_is_a_separate_binary(tmp_path: Path) -> None:
    text = "$CC -fPIC -shared twice.c -o libtwice.so && $CC main.c libtwice.so -o p"
    binaries = found(tmp_path, "sh", "-ec", text)
    assert binaries["libtwice.so"].is_shared
    assert names(binaries["p"]) == ["main.c"]
    assert not binaries["p"].unknown


def test_a_file_changed_after_the_link_is_left_out(tmp_path: Path) -> None:
    assert found(tmp_path, "sh", "-ec", "make && echo >> program && rm -f main.o") == {}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.c").write_text("int a;")
    subprocess.run(["cc", "-c", "a.c"], cwd=tmp_path, check=True)
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        subprocess.run(["ar", "rcs", f"{name}/libx.a", "a.o"], cwd=tmp_path, check=True)
    (tmp_path / "two" / "libx.so").write_bytes(b"\x7fELF")
    return tmp_path


def listed(folder: Path, text: str) -> list[Input]:
    return list(list_linked_files(CompilerCommand.parse(["cc", *text.split()], folder)))


def listed_names(folder: Path, text: str) -> list[str]:
    return [str(file.path.relative_to(folder)) for file in listed(folder, text)]


@pytest.mark.parametrize(
    "text",
    [
        "a.o one/libx.a", "-Wl,a.o,one/libx.a", "-Xlinker a.o -Xlinker one/libx.a",
        "-o b a.o -Wl,-rpath,one/libx.a one/libx.a", "-Wl,-rpath -Wl,a.o a.o one/libx.a -T a.o",
        "a.o -Wl,--exclude-libs,one/libx.a,one/libx.a", "a.o -L one -lx", "a.o -L=none -Lone -lx",
        "a.o -Lone -Wl,-lx", "a.o -Wl,-Lone,--library=x", "a.o -Wl,-L,one -l x",
        "a.o -Lone -l:libx.a",
        "a.o -Ltwo -static -lx", "a.o -Ltwo -Wl,-Bstatic -lx -Wl,-Bdynamic",
        "a.o -Ltwo -Wl,-dn,--push-state,-dy -Wl,--pop-state -lx", "-- a.o one/libx.a",
    ],
)  # fmt: skip
def test_files_are_found_in_every_spelling(folder: Path, text: str) -> None:
    names = listed_names(folder, text)
    if "-L=none" in text:  # only the linker knows the root of the system
        assert names == ["a.o"]
    else:
        assert names == ["a.o", "two/libx.a" if "two" in text else "one/libx.a"]


@pytest.mark.parametrize(
    "text",
    [
        "-Ltwo -lx", "-Ltwo -Lone -lx", "-lx", "-Lone -Wl,@words -lx", "-Ltwo -Wl,-l,x",
        "-Ltwo -l:libx.a -lx", "-Lone -Wl,-Bstatic -lx -Wl,-Bdynamic -L. -l:libx.so",
        "-Ltwo -Wl,-Bstatic -lx -Wl,-Bdynamic -lx", "-Wl,--just-symbols,a.o",
        "-Xlinker -R -Xlinker a.o",
        "-Wl,--an-option-of-tomorrow,a.o",
    ],
)  # fmt: skip
def test_ambiguous_paths_stay_unchanged(folder: Path, text: str) -> None:
    names = listed_names(folder, text)
    assert names == (["one/libx.a"] if ":libx.so" in text else [])


def test_a_part_of_an_archive_is_linked_unless_it_is_whole(folder: Path) -> None:
    def lazy(text: str) -> list[bool]:
        return [file.is_lazy for file in listed(folder, text)]

    assert lazy("a.o one/libx.a") == [False, True]
    for words in (
        "-Wl,--push-state,--whole-archive one/libx.a -Wl,--pop-state one/libx.a",
        "-Wl,-whole-archive one/libx.a -Wl,-no-whole-archive one/libx.a",
        "-Lone -Wl,--whole-archive,-Bstatic -lx -Wl,--no-whole-archive,-Bdynamic -lx",
    ):
        assert lazy(words) == [False, True]
    assert lazy("-Wl,--start-lib a.o -Wl,--end-lib a.o") == [True, False]
