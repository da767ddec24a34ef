# SPDX-License-Identifier: MIT
"""Binaries made with one GCC: of the same sources and flags the same bytes."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.gcc.making import BASE, GccMaker, Tools
from tests.tools.tune.gcc.projects import maker


def test_a_binary_with_a_library_does_what_it_did(tmp_path: Path) -> None:
    made = maker(tmp_path)
    for name, flags in {"plain": (), "whole": ("-flto", "-fno-gcse")}.items():
        path = made.make(name, (BASE, *flags), ("-Wl,--gc-sections",))
        done = subprocess.run([path, "a"], capture_output=True, text=True, check=True)
        assert done.stdout == "4\n"


def test_the_same_flags_make_the_same_bytes_wherever_it_is(tmp_path: Path) -> None:
    made = maker(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    again = GccMaker(made.tools, made.binary, other)
    first = made.make("one", (BASE, "-flto"), ()).read_bytes()
    assert again.make("two", (BASE, "-flto"), (), jobs=2).read_bytes() == first


def test_a_refused_flag_is_said_in_the_words_of_the_compiler(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="-fno-such-thing"):
        maker(tmp_path).make("bad", ("-fno-such-thing",), ())


def test_objects_are_kept_by_what_they_were_compiled_with(tmp_path: Path) -> None:
    made = maker(tmp_path)
    assert made.key(("-flto",)) == made.key(("-flto", "-flto-partition=one"))
    assert made.key(("-flto",)) != made.key(())
    made.make("one", ("-flto",), ())
    made.make("two", (), ())
    made.forget([("-flto",)])
    assert [path.name for path in (made.folder / "objects").iterdir()] == [made.key(("-flto",))]


def test_tools_are_named_after_their_compiler(tmp_path: Path) -> None:
    for name in ("x-gcc-7", "x-g++-7"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    tools = Tools.of(f"{tmp_path}/x-gcc-7")
    assert tools.gxx == f"{tmp_path}/x-g++-7"
    assert tools.ar == "ar"
