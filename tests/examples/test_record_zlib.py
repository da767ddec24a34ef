# SPDX-License-Identifier: MIT
"""A package's build becomes a dataset, and the package works as if clang had built it."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.loading import load_script

SCRIPT = Path(__file__).parents[2] / "examples" / "record_zlib" / "record.py"
MAKEFILE = """
CC = cc
all: twice
twice: main.o twice.o
\t$(CC) -o twice main.o twice.o
%.o: %.c
\t$(CC) -O2 -c $<
test: twice
\ttest "$$(./twice 21)" = 42
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>
int twice(int);
int main(int argc, char **argv) { printf("%d\\n", twice(atoi(argv[argc - 1]))); return 0; }
"""


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return load_script(SCRIPT, "record_zlib")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The source of a package that is configured, made and tested as most are."""
    source = tmp_path / "twice-1.0"
    source.mkdir()
    (source / "Makefile").write_text(MAKEFILE)
    (source / "main.c").write_text(MAIN)
    (source / "twice.c").write_text("int twice(int n) { int r = 0; r += n; r += n; return r; }\n")
    (source / "configure").write_text("#!/bin/sh\n$CC --version >/dev/null\n")
    (source / "configure").chmod(0o755)
    return source


def test_a_build_is_recorded_and_works(
    example: ModuleType, package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = example.record(package, tmp_path / "recorded", "twice-v0", tmp_path / "site")
    names = sorted(uri.rpartition("/")[2].partition("-")[0] for uri in dataset.benchmark_uris())
    assert names == ["main.c", "twice.c"]
    assert capsys.readouterr().out == "2 programs of twice-1.0, 0 recorded twice\n"
    results = example.shrink(dataset, 2.0)
    example.show(results, dataset)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["program", "first", "-Oz", "found"]
    for line in lines[1:]:
        first, oz, found = map(int, line.split()[1:])
        assert found <= oz < first


def test_a_build_that_fails_shows_why(example: ModuleType, package: Path, tmp_path: Path) -> None:
    (package / "twice.c").write_text("int twice(int n) { return nn; }\n")
    with pytest.raises(SystemExit, match="undeclared identifier 'nn'"):
        example.build(package, tmp_path / "recorded")


@pytest.mark.slow
def test_zlib_from_debian_is_recorded(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--output", str(tmp_path), "--seconds", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "34 programs of zlib-" in done.stdout
    assert "zlib-v0/inflate.c-" in done.stdout
