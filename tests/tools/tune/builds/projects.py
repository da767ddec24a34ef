# SPDX-License-Identifier: MIT
"""Small projects, and their builds as they are recorded."""

from collections.abc import Sequence
from pathlib import Path

from compiler_gym.tools.tune.builds import Recording, record_build

MAIN = """
#include <stdio.h>
int twice(int);
int unused(int n) { return n * 3; }
int main(int count, char **words) { printf("%d\\n", twice(count)); return 0; }
"""
TWICE = "int twice(int n) { return n * 2; }\nint thrice(int n) { return n * 3; }\n"
MAKEFILE = """
all: program
program: main.o libtwice.a
\t$(CC) $(LDFLAGS) -o program main.o -L. -ltwice
libtwice.a: twice.o
\tar rc libtwice.a twice.o
%.o: %.c
\t$(CC) $(CFLAGS) -c -o $@ $<
"""


def write_project(folder: Path) -> Path:
    """Write a program with a library of its own, and its Makefile."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.c").write_text(MAIN)
    (folder / "twice.c").write_text(TWICE)
    (folder / "Makefile").write_text(MAKEFILE)
    return folder


def record(tree: Path, folder: Path, *command: str, compiler: Sequence[str] = ("cc",)) -> Recording:
    """Record the build `command` in `tree`."""
    return record_build(tree, command, folder, compiler=compiler, cxx_compiler=("c++",))
