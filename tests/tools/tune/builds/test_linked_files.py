# SPDX-License-Identifier: MIT
"""The files of a link command: where they stand, and which file a library's name leads to."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.tools.tune.builds import Input, list_linked_files


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


def found(folder: Path, text: str) -> list[str]:
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
    names = found(folder, text)
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
    names = found(folder, text)
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
