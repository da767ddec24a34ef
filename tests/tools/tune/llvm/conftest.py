# SPDX-License-Identifier: MIT
"""A project with more to win than a few bytes, and its recorded build."""

import shutil
from pathlib import Path

import pytest

from compiler_gym.tools.tune.builds import Binary, find_binaries
from tests.tools.tune.builds.projects import record

SORT = """
#include <stdlib.h>
#include "numbers.h"
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void sort(int *numbers, int count) { qsort(numbers, count, sizeof *numbers, compare); }
int total(const int *numbers, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) sum += numbers[i] * (i % 7);
  return sum;
}
int never_called(const int *numbers, int count) { return total(numbers, count) * 3; }
"""
MAIN = """
#include <stdio.h>
#include "numbers.h"
#define MOST 64
int main(void) {
  int numbers[MOST];
  for (int i = 0; i < MOST; i++) numbers[i] = (i * 37) % 101;
  sort(numbers, MOST);
  for (int i = 0; i < MOST; i++) printf("%d%c", numbers[i], i % 8 == 7 ? '\\n' : ' ');
  printf("%d\\n", total(numbers, MOST));
  return 0;
}
"""
HEADER = "void sort(int *, int);\nint total(const int *, int);\n"
BUILD = "$CC -O2 -c sort.c && ar rc libsort.a sort.o && $CC -O2 main.c -L. -lsort -o numbers"

needs_lld = pytest.mark.skipif(
    not (shutil.which("clang-22") and shutil.which("ld.lld-22")), reason="needs clang-22 and lld-22"
)


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "tree"
    folder.mkdir()
    (folder / "sort.c").write_text(SORT)
    (folder / "main.c").write_text(MAIN)
    (folder / "numbers.h").write_text(HEADER)
    return folder


@pytest.fixture(scope="package")
def binary(project: Path) -> Binary:
    folder = project.with_name("record")
    recording = record(project, folder, "sh", "-ec", BUILD, compiler=("clang-22",))
    (found,) = find_binaries(recording.events(), project)
    return found
