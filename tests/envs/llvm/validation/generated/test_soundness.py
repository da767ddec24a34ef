# SPDX-License-Identifier: MIT
"""No input is judged on which the program itself does something undefined."""

import shutil
from collections.abc import Iterator

import pytest

from compiler_gym.datasets import Benchmark, RunCase, RunLimits
from compiler_gym.envs.llvm.validation.build import REFERENCE, build_program
from compiler_gym.envs.llvm.validation.generated.soundness import SoundnessJudge, build_judge
from compiler_gym.validation import run_program

from ..conftest import program

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

SOURCE = """
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int number = argc > 2 ? atoi(argv[2]) : 0, cells[4] = {1, 2, 3, 4}, raw[2];
  switch (argc > 1 ? argv[1][0] : 0) {
  case 'i': printf("%d\\n", cells[number] & 0); break;
  case 'o': printf("%d\\n", INT_MAX + number > 0); break;
  case 's': printf("%d\\n", (1 << number) & 0); break;
  case 'd': printf("%d\\n", 7 / number); break;
  case 'u': if (number) raw[0] = 1; puts(raw[0] > 5 ? "some" : "other"); break;
  case 'f': printf("%d\\n", (int)(number * 1e9) & 0); break;
  case 'm': printf("%d\\n", malloc((size_t)number << 20) != 0); break;
  case 'p': printf("%d\\n", (int)((uintptr_t)cells >> 4)); break;
  default: puts(argv[0]); fputs(argv[0], stderr); return 4;
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def judged() -> Iterator[tuple[SoundnessJudge, Benchmark]]:
    benchmark = program(SOURCE)
    with build_judge(benchmark) as judge:
        yield judge, benchmark


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (("i", "3"), True),
        (("i", "4"), False),
        (("o", "0"), True),
        (("o", "1"), False),
        (("s", "5"), True),
        (("s", "32"), False),
        (("d", "2"), True),
        (("u", "1"), True),
        (("u", "0"), False),
        (("f", "1"), True),
        (("f", "9"), False),
        (("m", "1"), True),
        (("m", "1500"), False),
        (("p",), False),
        ((), True),
    ],
    ids=lambda value: None if isinstance(value, bool) else " ".join(value),
)
def test_only_what_is_defined_is_sound(
    judged: tuple[SoundnessJudge, Benchmark], words: tuple[str, ...], *, verdict: bool
) -> None:
    judge, benchmark = judged
    case = RunCase(words)
    with build_program(benchmark.contents, flags=REFERENCE) as plain:
        found = run_program(plain, case, limits=RunLimits())
    assert judge.is_sound(case, found, seconds=60) is verdict


def test_without_its_source_only_memory_is_watched() -> None:
    known = program(SOURCE)
    benchmark = Benchmark("benchmark://user-v0/no-source", known.contents)
    benchmark.run = known.run
    with build_judge(benchmark) as judge:
        assert not judge.knows_source
        for words, verdict in ((("i", "4"), False), (("u", "0"), False), (("s", "32"), True)):
            case = RunCase(words)
            with build_program(benchmark.contents, flags=REFERENCE) as plain:
                found = run_program(plain, case, limits=RunLimits())
            assert judge.is_sound(case, found, seconds=60) is verdict, words


def test_source_that_needs_unknown_flags_counts_as_unknown() -> None:
    benchmark = program("int main(void) { return 0; }")
    benchmark.add_source(("other.c", b'#include "nowhere.h"\n'))
    with build_judge(benchmark) as judge:
        assert not judge.knows_source
