# SPDX-License-Identifier: MIT
"""The stand-in for a compiler: its exit status and its guess of what was made."""

import json
import random
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from compiler_gym.builds import watch


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


def test_a_line_holds_the_digest_of_its_output(tmp_path: Path) -> None:
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
        f"-Wl,--version-script={tmp_path}/rustcAb3xYz/list",
        f"{tmp_path}/a.0.rcgu.o",
        "-shared",
        "-o",
        f"{tmp_path}/liba.so",
    ]
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


def expand(folder: Path, texts: list[str]) -> list[str]:
    """Return the arguments in response files with `texts`, separated by a macro for each."""
    for number, text in enumerate(texts):
        (folder / f"{number}").write_text(text, newline="")
    words = [word for number in range(len(texts)) for word in (f"@{number}", f"-DAT={number}")]
    return watch.expand_response_files(words, str(folder))


@pytest.mark.skipif(not shutil.which("c++filt"), reason="needs binutils")
def test_response_files_are_read_as_binutils_reads_them(tmp_path: Path) -> None:
    """GCC has the same reader. 10,000 strings of each kind were compared, too: none differed."""
    draw = random.Random(0)
    texts = [
        "".join(draw.choices("ab '\"\\\t\r\n\v\f#$é\x01", k=draw.randrange(20))) for _ in range(400)
    ]
    arguments = expand(tmp_path, texts)
    words = [word for number in range(len(texts)) for word in (f"@{number}", f"AT={number}")]
    done = subprocess.run(["c++filt", *words], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{one.removeprefix('-D')}\n" for one in arguments)


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs GCC")
def test_response_files_are_read_as_gcc_reads_them(tmp_path: Path) -> None:
    texts = [
        '\'-DNAME=\\"single\\"\'\n"-DPATHS=\\"a\\\\\\\\b\\""\n',
        "-DA='it''s' -D'B=\\' x'",
        '-DA="\\$ \\` \\a \\\n b" -DB=\\\n',
        "-DA=\r\n-DB='\r\n'",
        "-DA='open",
        "-DB\\",
        " \v\f",
        "",
        "-DA=#b ''-DC\"\"",
        "-DA\0-DB",
    ]
    arguments = expand(tmp_path, texts)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\" > arguments\n")
    wrapper.chmod(0o755)
    words = [word for number in range(len(texts)) for word in (f"@{number}", f"-DAT={number}")]
    command = ["gcc", "-E", "-wrapper", str(wrapper), "-x", "c", "/dev/null", *words]
    subprocess.run(command, cwd=tmp_path, check=True)
    told = (tmp_path / "arguments").read_bytes().decode().split("\0")
    macros = [f"-D{macro}" for option, macro in pairwise(told) if option == "-D"]
    assert arguments == macros


def test_a_long_argument_of_a_response_file_is_copied_once() -> None:
    for piece in (b"''", b'"("', b"\\(", b"'\\''"):
        assert len(watch.split_response_file(piece * ((1 << 20) // len(piece)))) == 1


def test_an_argument_that_is_not_a_file_stays(tmp_path: Path) -> None:
    words = ["@missing", f"@{tmp_path}", "@\0", "@"]
    assert watch.expand_response_files(words, str(tmp_path)) == words
