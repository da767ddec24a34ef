# SPDX-License-Identifier: MIT
"""A program with ways that its own inputs do not take, and one that is wrong on them."""

import pytest

from compiler_gym.datasets import Benchmark, RunCase

from ..conftest import program

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int cells[8];
int main(int argc, char **argv) {
  int total = 0, number;
  if (argc < 2) { fprintf(stderr, "usage: %s [--deep] FILE\\n", argv[0]); return 2; }
  int is_deep = !strcmp(argv[1], "--deep");
  FILE *file = fopen(argv[argc - 1], "r");
  if (!file) { fputs("no such file\\n", stderr); return 3; }
  while (fscanf(file, "%d", &number) == 1) {
    if (number == 300) total += RARE;
    cells[number & 7] += number & 15;
    total = (total + (is_deep ? DEEP : cells[number & 7])) & 0xffff;
    if (number > 1000000) cells[number] = 0;
  }
  printf("%d\\n", total);
  return 0;
}
"""
CASES = (
    RunCase(("numbers",), files={"numbers": b"1 2 3 4 5 6\n"}, name="some"),
    RunCase(("numbers",), files={"numbers": b"7 7 7 2\n"}, name="others"),
)


def made(*, rare: str = "5", deep: str = "number & 31") -> Benchmark:
    return program(SOURCE.replace("RARE", rare).replace("DEEP", deep), *CASES)


@pytest.fixture(scope="session")
def right() -> Benchmark:
    return made()
