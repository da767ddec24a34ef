# SPDX-License-Identifier: MIT
"""A program whose time is in one function, and whose code is in others, with its recorded build."""

from pathlib import Path

from compiler_gym.tools.tune import BinaryPlan, RunCommand
from compiler_gym.tools.tune.builds import Binary, find_binaries
from compiler_gym.tools.tune.llvm.flags import FAST, FOLDING
from compiler_gym.tools.tune.llvm.linker import Linker
from tests.tools.tune.builds.projects import record

__all__ = ["BUILD", "PLAN", "linker_of", "make_project", "run_of"]

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
unsigned hot(unsigned rounds);
int cold(const char *text);
int main(int count, char **words) {
  if (count > 2) return cold(words[2]);
  printf("%u\\n", hot(count > 1 ? strtoul(words[1], 0, 10) : 2000000));
  return 0;
}
"""
WORK = """
#include <stdio.h>
#include <string.h>
unsigned hot(unsigned rounds) {
  unsigned sum = 0, state = 1;
  for (unsigned i = 0; i < rounds; ++i) {
    state = state * 1664525u + 1013904223u;
    switch (state >> 29) {
      case 0: sum += i; break;
      case 1: sum ^= state; break;
      case 2: sum = sum << 3 | sum >> 29; break;
      default: sum += 7;
    }
  }
  return sum;
}
int cold(const char *text) {
  int counts[26] = {0}, words = 0;
  for (const char *at = text; *at; ++at) {
    if (*at >= 'a' && *at <= 'z') counts[*at - 'a']++;
    else if (*at == ' ') words++;
  }
  for (int i = 0; i < 26; ++i) for (int j = 0; j < i; ++j)
    if (counts[i] > counts[j]) { int k = counts[i]; counts[i] = counts[j]; counts[j] = k; }
  for (int i = 0; i < 26; ++i) printf("%d %d\\n", counts[i], words);
  return words;
}
"""
BUILD = ("sh", "-c", "$CC -O2 -c main.c work.c && $CC main.o work.o -o program")
PLAN = BinaryPlan("program", FAST, linker=FOLDING)


def make_project(folder: Path) -> Path:
    """Write the sources to the new folder `folder`, and return it."""
    folder.mkdir()
    (folder / "main.c").write_text(MAIN)
    (folder / "work.c").write_text(WORK)
    return folder


def linker_of(project: Path, *build: str) -> Linker:
    """Return what links the program of `project`, recorded with `build`."""
    recording = record(
        project, project.parent / "record", *(build or BUILD), compiler=("clang-22",)
    )
    (binary,) = find_binaries(recording.events(), project)
    folder = project.parent / "folder"
    folder.mkdir()
    return Linker(binary, folder)


def run_of(binary: Binary, text: str = "./program 200000") -> RunCommand:
    """Return a run of the program with `text`."""
    return RunCommand(text, binary.path.parent, binary.path)
