# SPDX-License-Identifier: MIT
"""The commands that make a binary again: its own words, and ours in the place of inputs."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds import (
    Binary,
    Driver,
    Exchange,
    exchange_files,
    find_binaries,
    name_objects,
    run_command,
)
from tests.tools.tune.builds.projects import record, write_project

CC = Driver(("cc",), ("c++",), ("-w",))
DRIVER = Driver(("cc",), ("c++",), ("-w",), ("-Wl,-O1",), left_out=("-flto", "-fuse-ld"))
PLUG_IN = (
    "extern int registered; __attribute__((constructor)) static void f(void) { registered += %d; }"
)
SOURCES = {
    "main.c": """
        #include <stdio.h>
        int registered; int total(int);
        int main(void) { printf("%d plug-ins %d\\n", registered, total(registered)); return 0; }
    """,
    "core.c": """
        #ifdef AGAIN
        int total(int n) { return n * 10 + 1; }
        #else
        int total(int n) { return n * 10; }
        #endif
    """,
    "words": "main.o -Wl,--push-state,--whole-archive libplug.a -Wl,--pop-state 'libcore.a'",
} | {f"plug{1 << n}.c".replace("4", "3"): PLUG_IN % (1 << n) for n in range(3)}
MAKE_ARCHIVES = """
    ar rcs libcore.a core.o; ar rcs libplug.a plug1.o plug2.o plug3.o
    ar rcsT thin.a plug1.o plug2.o plug3.o; mkdir s; cp plug3.o s/plug1.o
    ar qcs same.a plug1.o s/plug1.o; $CC -r plug1.o plug2.o -o both.o
"""


def program(tmp_path: Path, *variables: str) -> Binary:
    tree = write_project(tmp_path / "tree")
    recording = record(tree, tmp_path / "record", "make", *variables)
    return find_binaries(recording.events(), tree)[0]


def test_a_source_keeps_its_own_flags_and_ours_come_after_them(tmp_path: Path) -> None:
    binary = program(tmp_path, "CFLAGS=-O1 -DN=1 -w")
    words = DRIVER.compile_words(binary.units[0], ["-Os"], tmp_path / "x.o")
    assert words[:2] == ["cc", "-w"]
    assert words.index("-DN=1") < words.index("-Os") < words.index("main.c")
    assert words[-2:] == ["-o", str(tmp_path / "x.o")]


def link(tmp_path: Path, binary: Binary, driver: Driver = CC) -> list[str]:
    """Compile and link `binary` again, and return the words of the link."""
    folder = tmp_path / "again"
    objects = name_objects(binary, folder)
    for unit, path in objects.items():
        path.parent.mkdir(parents=True)
        run_command(driver.compile_words(unit, ["-DAGAIN"], path), unit.command.cwd)
    exchange = exchange_files(binary, objects, folder / "archives")
    for step in exchange.steps:
        step.run()
    words = driver.link_words(binary, exchange, ["-Os"], tmp_path / "made")
    run_command(words, binary.command.cwd)
    return words


def linked(tmp_path: Path, build: str, compiler: Sequence[str] = ("cc",)) -> Binary:
    """Return the program that a shell command builds from objects, an archive and plug-ins."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, text in SOURCES.items():
        (tree / name).write_text(text)
    script = f"for n in *.c; do $CC -c $n; done; {MAKE_ARCHIVES}{build}"
    recording = record(tree, tmp_path / "record", "sh", "-ec", script, compiler=compiler)
    (binary,) = (one for one in find_binaries(recording.events(), tree) if one.name == "program")
    return binary


def run(path: Path) -> str:
    return subprocess.run([path], capture_output=True, text=True, check=True).stdout


def test_a_link_keeps_all_words_in_their_order_less_what_is_left_out(tmp_path: Path) -> None:
    binary = program(tmp_path)
    own = "-Wl,-O2 -g -O1 -o program main.o -L. -u x -ltwice -Wl,-z,now".split()
    left_out = ["-fuse-ld=bfd", "-Xclang", "-flto=thin"]
    command = CompilerCommand.parse(["cc", *left_out, *own], binary.root)
    binary = replace(binary, command=command)
    words = DRIVER.link_words(binary, Exchange(), ["-Os"], tmp_path / "x")
    assert words == [
        "cc",
        "-w",
        "-Wl,-O1",
        *own,
        "-Os",
        "-Wl,--strip-all",
        "-o",
        str(tmp_path / "x"),
    ]


@pytest.mark.parametrize(
    ("build", "again"),
    [
        ("main.o -Wl,--push-state,--whole-archive libplug.a -Wl,--pop-state libcore.a", "7"),
        ("main.o -Wl,-whole-archive libplug.a -Wl,-no-whole-archive libcore.a", "7"),
        ("main.o -L. -Wl,--whole-archive,-Bstatic -lplug -Wl,--no-whole-archive,-Bdynamic"
         " -lcore", "7"),
        ("main.o -Wl,--whole-archive,libplug.a,--no-whole-archive,libcore.a", "7"),
        ("main.o -Xlinker --whole-archive -Xlinker libplug.a -Xlinker --no-whole-archive"
         " -L. -l core", "7"),
        ("main.o -L. -Wl,--whole-archive -l:libplug.a -Wl,--no-whole-archive -Wl,-lcore", "7"),
        ("@words", "7"),
        ("main.o -Wl,--start-group libcore.a libplug.a -Wl,--end-group", "0"),
        ("main.o libcore.a libplug.a libcore.a libplug.a", "0"),
        ("main.o -Wl,--whole-archive libplug.a libplug.a -Wl,--no-whole-archive libcore.a", "14"),
        ("main.o -Wl,--whole-archive thin.a -Wl,--no-whole-archive libcore.a", "7"),
        ("main.o -Wl,--whole-archive same.a -Wl,--no-whole-archive libcore.a", "5"),
        ("main.o both.o core.o", "3"),
        ("-x c main.c -x none -Wl,--whole-archive libplug.a -Wl,--no-whole-archive core.c", "7"),
    ],
)  # fmt: skip
def test_a_program_is_linked_like_the_build_links_it(
    tmp_path: Path, build: str, again: str
) -> None:
    binary = linked(tmp_path, f"$CC {build} -o program")
    link(tmp_path, binary)
    assert not binary.unknown
    assert run(binary.path) == f"{again} plug-ins {int(again) * 10}\n"
    assert (
        run(tmp_path / "made") == f"{again} plug-ins {int(again) * 10 + 1}\n"
    )  # core.c was compiled again


def test_an_object_that_was_edited_stays_as_it_is(tmp_path: Path) -> None:
    edit = "objcopy --redefine-sym total=old core.o && objcopy --redefine-sym old=total core.o"
    strip = "objcopy --add-section .note.x=words core.o; ar rcs libcore.a core.o"
    binary = linked(tmp_path, f"{edit}; {strip}; $CC main.o libplug.a libcore.a -o program")
    assert [path.name for path in binary.unknown] == ["libcore.a"]
    link(tmp_path, binary)
    assert run(tmp_path / "made") == "0 plug-ins 0\n"


@pytest.mark.parametrize("kind", ["rcs", "rcsT"])
def test_members_of_unknown_origin_stay_next_to_new_ones(tmp_path: Path, kind: str) -> None:
    build = (
        "rm libplug.a; cp plug1.o other.o; mkdir sub; cp plug2.o sub/plug1.o; echo .data > d.s;"
        f"as d.s -o d.o; objcopy -R .comment plug3.o; ar q{kind[1:]} libplug.a d.o plug1.o plug3.o"
        " other.o sub/plug1.o; $CC main.o -Wl,--whole-archive libplug.a -Wl,--no-whole-archive"
        " core.o -o program -Wl,-z,muldefs"
    )
    binary = linked(tmp_path, build)
    (archive,) = (input for input in binary.inputs if input.members)
    assert [number is None for _, number in archive.members] == [True, False, True, False, False]
    words = link(tmp_path, binary)
    (made,) = (word for word in words if word.endswith("libplug.a"))
    names = subprocess.run(["ar", "t", made], capture_output=True, text=True, check=True).stdout
    assert names.split() == ["d.o", "plug1.o", "plug3.o", "other.o", "plug1.o"]
    assert run(tmp_path / "made") == run(binary.path).replace("0\n", "1\n")


def test_code_in_another_object_is_left_out(tmp_path: Path) -> None:
    binary = linked(
        tmp_path,
        "$CC main.o core.o -Wl,--whole-archive libplug.a -Wl,--no-whole-archive -o program",
    )
    own, units = tmp_path / "all.o", binary.units
    run_command(["ld", "-r", "main.o", "core.o", "plug1.o", "-o", str(own)], binary.root)
    exchange = exchange_files(binary, dict.fromkeys(units[:3]), tmp_path / "rest", program=own)
    for step in exchange.steps:
        step.run()
    words = CC.link_words(binary, exchange, [], tmp_path / "made")
    run_command(words, binary.root)
    assert run(tmp_path / "made") == "7 plug-ins 70\n"
    assert [Path(word).name for word in words[2:6]] == [
        "all.o", "empty.a", "-Wl,--whole-archive", "libplug.a",
    ]  # fmt: skip


def test_a_path_with_a_comma_is_a_separate_argument(tmp_path: Path) -> None:
    (tmp_path / "a,b").mkdir()
    binary = linked(tmp_path, "$CC main.o -Wl,--start-group,libcore.a,--end-group -o program")
    link(tmp_path / "a,b", binary)
    assert run(tmp_path / "a,b" / "made") == "0 plug-ins 1\n"


def test_a_failed_command_shows_its_message(tmp_path: Path) -> None:
    run_command(["true"], tmp_path)
    with pytest.raises(ProjectError, match=r"\(3\):\nno good"):
        run_command(["sh", "-c", "echo no good >&2; exit 3"], tmp_path)
    with pytest.raises(ProjectError, match="cannot run no-such-program"):
        run_command(["no-such-program"], tmp_path)
