# SPDX-License-Identifier: MIT
"""A run tells which edges it took, and how often; nothing else of the program changes."""

import shutil

import pytest

from compiler_gym.datasets import RunCase
from compiler_gym.envs.llvm.validation.generated.coverage import build_counted, read_tokens

from ..conftest import program

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  if (argc < 2) { fputs("usage\\n", stderr); return 2; }
  if (!strcmp(argv[1], "--loop"))
    for (int i = 0; i < atoi(argv[2]); i++) putchar('a');
  if (atoi(argv[1]) == 4242) puts("found");
  return 3;
}
"""


def test_more_rounds_and_other_ways_are_more_to_reach() -> None:
    with build_counted(program(SOURCE).contents) as one:
        runs = {
            words: one.run(RunCase(words), seconds=60)
            for words in ((), ("x",), ("4242",), ("--loop", "1"), ("--loop", "50"))
        }
        reached = {words: bits for words, (_, bits) in runs.items()}
        assert len(set(reached.values())) == 5
        assert one.count_new_edges(reached["--loop", "1"]) == one.count_new_edges(
            reached["--loop", "50"]
        )
        assert one.count(reached[()]) < one.count(reached["4242",]) < one.edges
        assert runs["--loop", "50"][0].stdout == b"a" * 50
        assert runs[()][0].stderr == b"usage\n"
        assert {ran.exit_status for ran, _ in runs.values()} == {2, 3}
        assert all(not ran.files for ran, _ in runs.values())


def test_a_run_that_is_ended_reaches_nothing() -> None:
    source = "#include <stdlib.h>\nint main(int n, char **v) { if (n > 1) abort(); return 0; }"
    with build_counted(program(source).contents) as one:
        ran, reached = one.run(RunCase(("x",)), seconds=60)
        assert (ran.exit_status, reached) == (-6, 0)
        assert one.run(RunCase(), seconds=60)[1] > 0


def test_the_constants_that_a_program_compares_with_are_known() -> None:
    with build_counted(program(SOURCE).contents) as one:
        assert {b"--loop", b"4242", (4242).to_bytes(4, "little"), b"found"} <= set(one.tokens)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('@.s = private constant [7 x i8] c"a\\00\\5Cb\\00\\00"', (b"a", b"\\b")),
        ("  %3 = icmp slt i16 %2, 300", (b"\x2c\x01", b"300")),
        ("    i8 -3, label %4", (b"\xfd", b"-3")),
        ("  %3 = icmp eq i32 %2, 0", ()),
        ('@.s = private constant [99 x i8] c"' + "x" * 98 + '\\00"', ()),
    ],
)
def test_tokens_are_short_texts_and_numbers_that_are_compared(
    text: str, wanted: tuple[bytes, ...]
) -> None:
    assert read_tokens(text) == wanted
