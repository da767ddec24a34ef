# SPDX-License-Identifier: MIT
"""The stand-in for a compiler: its exit status and its guess of what was made."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.tools.tune.builds import watch


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (["-c", "a.c", "-o", "x.o"], ["x.o"]),
        (["-c", "a.c", "-ox.o"], ["x.o"]),
        (["-c", "src/a.c", "b.cc"], ["a.o", "b.o"]),
        (["a.c"], ["a.out"]),
    ],
)
def test_outputs_are_those_of_a_compiler(words: list[str], made: list[str]) -> None:
    assert watch.outputs(words) == made


def _run(journal: Path, *words: str) -> int:
    script = Path(watch.__file__)
    command = [sys.executable, "-I", "-S", str(script), str(journal), "1", *words]
    return subprocess.run(command, cwd=journal.parent, check=False).returncode


def test_the_status_is_the_compilers(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    assert _run(journal, "false", "-o", "x") == 1
    assert _run(journal, "/no/such/compiler") == 127
    shell = tmp_path / "dies"
    shell.write_text("#!/bin/sh\nkill -9 $$\n")
    shell.chmod(0o755)
    assert _run(journal, str(shell)) == 128 + signal.SIGKILL
    assert not journal.exists()


def test_a_line_holds_the_digest_of_what_was_made(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    (tmp_path / "x").write_bytes(b"")
    assert _run(journal, "true", "-o", "x") == 0
    line = json.loads(journal.read_text())
    assert line["made"] == {"x": watch.digest(str(tmp_path / "x"))}
    assert line["words"] == ["true", "-o", "x"]


def test_files_that_rustc_deletes_are_kept(tmp_path: Path) -> None:
    (tmp_path / "rustcAb3xYz").mkdir()
    (tmp_path / "rustcAb3xYz" / "list").write_text("{ global: twice; };")
    (tmp_path / "a.0.rcgu.o").write_bytes(b"BC\xc0\xde")
    words = [
        f"-Wl,--version-script={tmp_path}/rustcAb3xYz/list", f"{tmp_path}/a.0.rcgu.o", "-shared",
        "-o", f"{tmp_path}/liba.so",
    ]  # fmt: skip
    before = [str(tmp_path / "journal"), "1", "true"]
    kept = watch.keep_rust_files(words, before)
    folder = tmp_path / "liba.so.rust"
    assert kept[0] == f"-Wl,--version-script={folder}/list"
    assert kept[1:] == [f"{folder}/a.0.rcgu.o", *words[2:]]
    assert (folder / "a.0.bc").is_file()
    assert (folder / "list").read_text() == "{ global: twice; };"


def test_macros_and_build_scripts_are_linked_unchanged(tmp_path: Path) -> None:
    (tmp_path / "a.0.rcgu.o").write_bytes(b"BC\xc0\xde")
    words = [f"{tmp_path}/a.0.rcgu.o", "/usr/lib/libcore-60d83e9bdc749192.rlib", "-o", "a"]
    assert watch.keep_rust_files(words, []) == words
