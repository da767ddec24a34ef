# SPDX-License-Identifier: MIT
"""What a linked file was made of: objects, archives, copies, and what nobody knows."""

from pathlib import Path

from compiler_gym.tools.tune.builds import Binary, find_binaries
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
