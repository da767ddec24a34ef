# SPDX-License-Identifier: MIT
"""A corpus of three packages with one pattern that -Oz leaves too large in each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler_gym_hunt.llvm.engine import Engine

SCAN = """\
int f(const unsigned char *s{more}) {{
  for (; *s; s++)
    if (*s == '%' && (s[1] == 'd' || s[1] == 's')) return {found};
  return 0;
}}
"""
VARIANTS = {
    "one": SCAN.format(more="", found="1"),
    "two": SCAN.format(more=", int n", found="n + 7"),
    "three": SCAN.format(more=", int n, int m", found="n * m"),
}
LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
HEAD = f'target datalayout = "{LAYOUT}"\ntarget triple = "x86_64-pc-linux-gnu"\n'
ADDS = f"""{HEAD}define i32 @f(i32 %0, i32 %1) minsize optsize {{
  %3 = add i32 %0, %1
  %4 = icmp sgt i32 %3, 5
  br i1 %4, label %5, label %7
5:
  %6 = mul i32 %3, %1
  ret i32 %6
7:
  ret i32 %3
}}
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a folder of three packages, with one file that does not compile."""
    folder = tmp_path / "corpus"
    for name, text in VARIANTS.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "scan.c").write_text(text)
    (folder / "one" / "broken.c").write_text("int f(void) { return nothing; }\n")
    return folder


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """Lend an engine."""
    with Engine() as made:
        yield made
