# SPDX-License-Identifier: MIT
"""Edge coverage of a run: LLVM adds counters, and a few lines of C write them to a file.

The unoptimised program is counted. Counts are grouped into eight steps, so that one iteration of a
loop and many iterations count as different coverage.
"""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.datasets import RunCase, RunLimits, RunReport
from compiler_gym.envs.llvm.validation.build import (
    REFERENCE,
    find_opt,
    link_program,
    run_tool,
)
from compiler_gym.files import scratch_directory
from compiler_gym.validation import run_program

__all__ = ["Counted", "build_counted", "read_tokens"]

_EDGES_FILE = "compiler_gym-edges"
_COVERAGE_PASSES = (
    "-passes=sancov-module",
    "-sanitizer-coverage-level=3",
    "-sanitizer-coverage-inline-8bit-counters",
)
_WRITER = f"""
#include <fcntl.h>
#include <unistd.h>
static unsigned char *first, *last;
static int file = -1;
void __sanitizer_cov_8bit_counters_init(unsigned char *start, unsigned char *stop) {{
  if (first) return;
  first = start;
  last = stop;
  int opened = open("{_EDGES_FILE}", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  file = fcntl(opened, F_DUPFD_CLOEXEC, 200);
  close(opened);
}}
__attribute__((destructor)) static void write_edges(void) {{
  if (first && write(file, first, last - first) < 0) _exit(99);
}}
"""
_STEPS = (0, 1, 2, 3, 4, 8, 16, 32, 128)
_BITS = bytes((1 << max(i for i, step in enumerate(_STEPS) if step <= n)) >> 1 for n in range(256))
"""The bit of the step of each count; 0 for an edge that was not taken."""

_ONCE = bytes([0] + [1] * 255)

_STRING_CONSTANT = re.compile(r'^@.* c"((?:[^"\\]|\\[0-9A-Fa-f]{2})*)"', re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})")
_COMPARED = re.compile(r"icmp \w+ (?:\w+ )*i(8|16|32|64) [^,\n]+, (-?\d+)")
_CASE = re.compile(r"^    i(8|16|32|64) (-?\d+), label", re.MULTILINE)
_LONGEST_TOKEN = 32
_MOST_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Counted:
    """A program that counts how often each of its edges is taken."""

    program: Path
    tokens: tuple[bytes, ...]
    """The short strings and the numbers that it compares with."""
    edges: int
    """The total number of edges."""

    def run(self, case: RunCase, *, seconds: float) -> tuple[RunReport, int]:
        """Return the report of a run and, as the bits of a number, its coverage."""
        counted = replace(case, outputs=(*case.outputs, _EDGES_FILE))
        report = run_program(self.program, counted, limits=RunLimits(seconds=seconds))
        files = {name: contents for name, contents in report.files.items() if name != _EDGES_FILE}
        bits = report.files.get(_EDGES_FILE, b"").translate(_BITS)
        return replace(report, files=files), int.from_bytes(bits, "little")

    def count_new_edges(self, reached: int) -> int:
        """Return one bit for each edge in `reached`, regardless of its count."""
        return int.from_bytes(reached.to_bytes(self.edges, "little").translate(_ONCE), "little")

    def count(self, reached: int) -> int:
        """Return the number of edges in `reached`."""
        return self.edges - reached.to_bytes(self.edges, "little").count(0)


@contextmanager
def build_counted(module: bytes, link: Sequence[str] = ()) -> Generator[Counted]:
    """Yield the counted program of `module`, in a directory that is removed afterwards."""
    with scratch_directory("edges") as name:
        folder = Path(name)
        (folder / "plain.bc").write_bytes(module)
        text = folder / "counted.ll"
        run_tool([find_opt(), *_COVERAGE_PASSES, "-S", str(folder / "plain.bc"), "-o", str(text)])
        (folder / "writer.c").write_text(_WRITER)
        words = text.read_text(errors="replace")
        sizes = re.findall(r"^@__sancov_gen_\S* = .*\[(\d+) x i8\]", words, re.MULTILINE)
        program = link_program(
            text.read_bytes(),
            folder / "program",
            link=(str(folder / "writer.c"), *link),
            flags=REFERENCE,
        )
        yield Counted(program, read_tokens(words), sum(map(int, sizes)))


def read_tokens(text: str) -> tuple[bytes, ...]:
    """Return the short strings and numbers in textual IR that a program may compare with.

    >>> read_tokens('@.s = private constant [3 x i8] c"-x\\\\00"')
    (b'-x',)
    """
    tokens: dict[bytes, None] = {}
    for match in _STRING_CONSTANT.finditer(text):
        string = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]), match[1].encode())
        for part in string.split(b"\0"):
            tokens.update(dict.fromkeys([part] if 0 < len(part) <= _LONGEST_TOKEN else []))
    for width, number in (*_COMPARED.findall(text), *_CASE.findall(text)):
        value, size = int(number), int(width) // 8
        if value not in (0, 1, -1):
            tokens[value.to_bytes(size, "little", signed=value < 0)] = None
            tokens[b"%d" % value] = None
    return tuple(tokens)[:_MOST_TOKENS]
