# SPDX-License-Identifier: MIT
"""Sizes and counts are read off assembly and objects."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.errors import SessionError
from compiler_gym_gcc import GccEnv
from compiler_gym_gcc.toolchain.products import instruction_counts, runs_here, text_size

from ..conftest import needed

ASSEMBLY = """\
\t.file\t"a.c"
\t.text
main:
.LFB0:
\t.cfi_startproc
\tpushq\t%rbp
\trep stosq
\tcall\tputs@PLT
\tcall\texit@PLT
# a comment
\t.size\tmain, .-main
"""


def test_mnemonics_are_counted_and_directives_are_not() -> None:
    assert instruction_counts(ASSEMBLY) == {"call": 2, "pushq": 1, "rep": 1}
    assert instruction_counts("") == {}


@pytest.mark.parametrize("flags", [[], ["-ffunction-sections"], ["-m32"]])
def test_code_is_what_size_calls_text_less_what_is_read_only(
    flags: list[str], tmp_path: Path
) -> None:
    source = tmp_path / "a.c"
    source.write_text("int f(int x) { return x * 3; }\nint g(int x) { return x / 7; }\n")
    words = [needed("gcc-12"), "-O2", *flags, "-c", source, "-o", tmp_path / "a.o"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"needs a gcc-12 for {flags}: {done.stderr[:80]}")
    listed = subprocess.run(
        ["readelf", "-S", "-W", tmp_path / "a.o"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split("]")[-1].split() for line in listed.splitlines() if " AX " in line]
    assert rows
    assert text_size((tmp_path / "a.o").read_bytes()) == sum(int(row[4], 16) for row in rows)


def test_many_sections_are_all_counted(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(
        "".join(f'.section .text.f{n},"ax",@progbits\nnop\n' for n in range(70_000))
    )
    needed("gcc-12")
    subprocess.run(["gcc-12", "-c", "a.s", "-o", "a.o"], cwd=tmp_path, check=True)
    assert text_size((tmp_path / "a.o").read_bytes()) == 70_000


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"!<arch>\n" + b" " * 99])
def test_an_invalid_object_is_refused(data: bytes) -> None:
    with pytest.raises(SessionError, match="not an ELF object"):
        text_size(data)


def test_an_object_says_which_machine_runs_it(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int x;\n")
    subprocess.run([needed("gcc-12"), "-c", "a.c"], cwd=tmp_path, check=True)
    subprocess.run([needed("avr-gcc"), "-c", "a.c", "-o", "b.o"], cwd=tmp_path, check=True)
    assert runs_here((tmp_path / "a.o").read_bytes())
    assert not runs_here((tmp_path / "b.o").read_bytes())
    assert not runs_here(b"MZ")


def test_an_object_that_is_not_elf_has_a_size(
    make_env: Callable[..., GccEnv], tmp_path: Path
) -> None:
    other = tmp_path / "gcc"
    other.write_text(
        "#!/bin/sh\n"
        'gcc-12 "$@" || exit\n'
        'case " $* " in *" -c -save-temps "*) for o in *.o; do printf MZ > "$o"; done;; esac\n'
    )
    other.chmod(0o755)
    env = make_env(gcc_bin=str(other))
    env.reset()
    assert (env.obj, env.obj_size) == (b"MZ", 2)
    with pytest.raises(SessionError, match="not an ELF object"):
        env.observation["text_size"]
