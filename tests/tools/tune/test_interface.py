# SPDX-License-Identifier: MIT
"""A build that lost a symbol or a library of the original was not linked like it."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.tools.tune.interface import explain_difference

C = "int kept(void) { return 1; } int other(void) { return 2; }"
CXX = "template <class T> T twice(T n) { return n + n; } int kept(int n) { return twice(n); }"


def build(folder: Path, name: str, *words: str, text: str = C) -> Path:
    source = folder / f"{name}.cpp"
    source.write_text(text)
    language = "c++" if text == CXX else "c"
    command = ["c++", "-fPIC", "-x", language, source, "-x", "none", *words, "-o", folder / name]
    subprocess.run(command, check=True)
    return folder / name


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return build(tmp_path, "original", "-shared")


def test_equal_libraries_do_not_differ(library: Path, tmp_path: Path) -> None:
    again = build(tmp_path, "again", "-shared", "-Os", "-s", "-fuse-ld=bfd", "-Wl,--gc-sections")
    assert explain_difference(library, again, is_library=True) == ""


def test_a_lost_and_an_added_symbol_are_named(library: Path, tmp_path: Path) -> None:
    text = C.replace("other", "another")
    other = build(tmp_path, "other", "-shared", text=text)
    said = explain_difference(library, other, is_library=True)
    assert said == "does not export other; also exports another"
    assert explain_difference(library, other, is_library=False) == "does not export other"


def test_an_added_library_is_named(library: Path, tmp_path: Path) -> None:
    needed = ("-Wl,--no-as-needed", str(library), "-Wl,--as-needed")
    other = build(tmp_path, "more", "-shared", *needed)
    assert explain_difference(library, other, is_library=True) == (
        f"also needs the library {library}"
    )


def test_a_template_may_be_inlined(tmp_path: Path) -> None:
    plain, small = (build(tmp_path, level, "-shared", level, text=CXX) for level in ("-O0", "-O2"))
    assert explain_difference(plain, small, is_library=True) == ""
