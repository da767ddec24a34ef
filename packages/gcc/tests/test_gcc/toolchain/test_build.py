# SPDX-License-Identifier: MIT
"""A program is preprocessed and compiled by runs of GCC whose failures are typed."""

from pathlib import Path

import pytest

from compiler_gym.errors import (
    CompilerDiagnosticError,
    CompilerFatalError,
    ObservationError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym_gcc import Gcc
from compiler_gym_gcc.programs.source import SourceProgram
from compiler_gym_gcc.toolchain.build import (
    DEFAULT_SECONDS,
    Builder,
    check,
    is_lasting,
    preprocess,
    read_macros,
)

from ..conftest import needed

TEXT = b"int twice(int n) { return n + n; }\n"
MAIN = b'#include "twice.h"\nint main(void) { return twice(ANSWER); }\n'
TWO = SourceProgram(
    ("main.c", "twice.c"),
    {"main.c": MAIN, "twice.c": TEXT, "twice.h": b"int twice(int);\n"},
    ("-DANSWER=21",),
)


@pytest.fixture
def gcc() -> Gcc:
    return Gcc(needed("gcc-12"))


def units_of(gcc: Gcc, folder: Path) -> SourceProgram:
    return preprocess(gcc, TWO, (), folder / "sources", DEFAULT_SECONDS)


def script(path: Path, text: str) -> Gcc:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return Gcc(path)


def test_preprocessed_units_need_no_header_and_no_definition(gcc: Gcc, tmp_path: Path) -> None:
    units = units_of(gcc, tmp_path)
    assert units.units == ("000-main.i", "001-twice.i")
    assert b"twice(21)" in units.files["000-main.i"]
    assert units.flags == ()
    check(gcc, units, tmp_path / "check", DEFAULT_SECONDS)


def test_several_units_become_one_object_and_one_program(gcc: Gcc, tmp_path: Path) -> None:
    units = units_of(gcc, tmp_path)
    builder = Builder(gcc, lambda words: units, tmp_path / "units")
    assert builder.assembly(["-O1"]).count(b".ident") == 2
    assert builder.object(["-O1"])[:4] == b"\x7fELF"
    assert b"Function twice" in builder.rtl(["-O1"])
    program = builder.program(["-O1"], ())
    assert gcc.runner()([str(program)], timeout=10).returncode == 42


def test_one_run_serves_the_object_and_the_assembly(gcc: Gcc, tmp_path: Path) -> None:
    log = tmp_path / "log"
    counted = script(tmp_path / "counted", f'echo run >> {log}\nexec gcc-12 "$@"')
    units = SourceProgram(("a.i",), {"a.i": TEXT})
    builder = Builder(counted, lambda words: units, tmp_path / "units")
    builder.object(["-O2"])
    builder.assembly(["-O2"])
    assert log.read_text().split() == ["run"]
    builder.assembly(["-O3"])
    assert log.read_text().split() == ["run"] * 2


def test_a_broken_compiler_does_not_block_another(gcc: Gcc, tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = script(tmp_path / "logging", f'echo run >> {log}\nexec gcc-12 "$@"').path()
    units = SourceProgram(("a.i",), {"a.i": TEXT})
    boxed = Builder(Gcc(path, is_boxed=True), lambda words: units, tmp_path / "boxed")
    assert boxed.object(["-O2"])[:4] == b"\x7fELF"
    assert not log.exists()
    Builder(Gcc(path), lambda words: units, tmp_path / "free").object(["-O2"])
    assert log.read_text() == "run\n"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("echo 'a.c:1: error: no' >&2; exit 1", CompilerDiagnosticError, "a.c:1: error: no"),
        ("exit 3", CompilerDiagnosticError, "exited with status 3 without a message"),
        ("echo 'internal compiler error: x' >&2; exit 4", CompilerFatalError, "crashed"),
        ("kill -SEGV $$", CompilerFatalError, "crashed"),
        ("echo 'cc1: out of memory' >&2; exit 1", WorkerOutOfMemoryError, "ran out of memory"),
        ("sleep 20", WorkerTimeoutError, "did not finish within 0.5 s"),
    ],
)
def test_a_failed_run_says_what_kind_of_failure_it_was(
    text: str, error: type[Exception], words: str, tmp_path: Path
) -> None:
    builder = Builder(
        script(tmp_path / "gcc", text),
        lambda words: SourceProgram(("a.i",), {"a.i": TEXT}),
        tmp_path,
    )
    builder.timeout = 0.5
    with pytest.raises(error, match=words):
        builder.assembly(["-O2"])


def test_errors_that_another_day_would_not_bring_do_not_last() -> None:
    assert is_lasting(CompilerDiagnosticError("a.c:1: error: expected ';'"))
    for words in ("cannot execute 'cc1'", "Too many open files", "Read-only file system"):
        assert not is_lasting(CompilerDiagnosticError(words))


def test_macros_are_what_the_compiler_prints(gcc: Gcc, tmp_path: Path) -> None:
    query = ("-dM", "-E", "-Os", "-x", "c", "/dev/null")
    printed = read_macros(gcc, query, tmp_path / "new", DEFAULT_SECONDS)
    assert b"#define __OPTIMIZE_SIZE__ 1" in printed


def test_programs_of_an_image_are_not_run_here(tmp_path: Path) -> None:
    builder = Builder(Gcc("docker:gcc:12"), lambda words: TWO, tmp_path)
    with pytest.raises(ObservationError, match="cannot run outside"):
        builder.program([], ())
