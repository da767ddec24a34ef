# SPDX-License-Identifier: MIT
"""Linker maps agree with the symbols of the linked file, and change none of its bytes."""

import subprocess
from pathlib import Path

from compiler_gym.builds import function_sizes, measure_sizes
from compiler_gym.tools.tune.builds import bytes_by_file, map_beside, read_linked_functions
from tests.tools.tune.builds.projects import write_project


def link(folder: Path, name: str, *flags: str) -> Path:
    write_project(folder)
    linked = folder / name
    words = ["clang-22", "-Oz", "-fuse-ld=lld", "main.c", "twice.c", *flags, "-o", linked]
    subprocess.run(words, cwd=folder, check=True)
    return linked


def test_functions_of_a_stripped_file_have_the_sizes_of_its_symbols(tmp_path: Path) -> None:
    whole = link(tmp_path, "whole")
    mapped = tmp_path / "mapped"
    stripped = link(tmp_path, "mapped", "-s", f"-Wl,-Map={map_beside(mapped)}")
    assert not function_sizes(stripped)
    symbols = function_sizes(whole)
    found = {function.name: function.size for function in read_linked_functions(stripped)}
    assert {name: found[name] for name in ("main", "twice", "thrice", "unused")} == {
        name: symbols[name] for name in ("main", "twice", "thrice", "unused")
    }
    files = {function.name: function.file for function in read_linked_functions(stripped)}
    assert files["main"] == files["unused"] != files["twice"] == files["thrice"]
    by_file = bytes_by_file(stripped)
    ours = symbols["twice"] + symbols["thrice"]
    assert ours <= by_file[files["twice"]] < ours + 16
    assert 0 <= measure_sizes(stripped).text - sum(by_file.values()) < 16 * len(by_file)


def test_a_map_changes_no_byte(tmp_path: Path) -> None:
    plain = link(tmp_path, "program", "-s").read_bytes()
    mapped = link(tmp_path, "program", "-s", f"-Wl,-Map={tmp_path / 'program.map'}").read_bytes()
    assert mapped == plain


def test_without_a_map_or_with_another_linkers_nothing_is_known(tmp_path: Path) -> None:
    linked = tmp_path / "program"
    assert read_linked_functions(linked) == []
    map_beside(linked).write_text("Archive member included\n\n.text 0x0 0x10\n")
    assert read_linked_functions(linked) == []
    assert bytes_by_file(linked) == {}
