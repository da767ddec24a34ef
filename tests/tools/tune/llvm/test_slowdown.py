# SPDX-License-Identifier: MIT
"""A smaller program keeps to the time that it was allowed."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.statistics import Comparison, compare_fastest
from compiler_gym.tools.tune import BinaryPlan, RunCommand
from compiler_gym.tools.tune.builds import Binary, find_binaries
from compiler_gym.tools.tune.llvm import slowdown
from compiler_gym.tools.tune.llvm.flags import FOLDING
from compiler_gym.tools.tune.llvm.linker import Linker
from compiler_gym.tools.tune.llvm.program import Whole, make_whole
from compiler_gym.tools.tune.llvm.slowdown import Slowdown
from tests.tools.tune.builds.projects import record

MAIN = """
#include <stdio.h>
int main(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 20000000; ++i) {
    unsigned inner = sum;
    for (unsigned k = 0; k < 30; ++k) inner += i; /* -Oz multiplies instead */
    sum = inner ^ sum >> 7;
  }
  printf("%u\\n", sum);
  return 0;
}
"""
BUILD = ("sh", "-c", "$CC -O2 -c main.c && $CC main.o -o program")


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Linker, Whole, Path, Binary]:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "main.c").write_text(MAIN)
    recording = record(tree, tmp_path / "record", *BUILD)
    (binary,) = find_binaries(recording.events(), tree)
    linker = Linker(binary, tmp_path / "made")
    fair = linker.link("fair", linker.compile("fair-o", ["-Oz", "-flto"]), ["-Oz", "-flto"])
    return linker, make_whole(binary, fair, jobs=1), fair, binary


TakesSeconds = Callable[[Path, float], None]


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> TakesSeconds:
    """Return what says how long a binary runs; each other one takes a second."""
    seconds: dict[Path, float] = {}

    def compare(
        run: RunCommand, baseline: Path, candidate: Path, rounds: int
    ) -> tuple[Comparison, float]:
        before, after = ([seconds.get(path, 1.0)] * rounds for path in (baseline, candidate))
        return compare_fastest(before, after), before[0]

    monkeypatch.setattr(slowdown, "compare_in_turns", compare)
    return seconds.__setitem__


@pytest.mark.parametrize("is_run", [True, False])
def test_passes_that_leave_a_slow_loop_are_taken_back(
    parts: Any, takes: TakesSeconds, is_run: bool
) -> None:
    linker, whole, fair, binary = parts
    run = RunCommand("./program", binary.root, binary.path) if is_run else None
    # Where nothing else is done every loop stays, and every variable in memory.
    slow = BinaryPlan("program", "program", "globaldce", linker=FOLDING)
    bound = Slowdown(linker, run, whole, fair, 0.5)
    build = bound._make(slow)  # pyright: ignore[reportPrivateUsage]  # no public name tells
    takes(build.path, 10.0)
    kept = bound.within(build)
    assert kept is not None
    plan, path = kept.plan, kept.path
    assert not plan.passes
    assert plan.linker == FOLDING
    assert "passes" in bound.notes[0]
    answers = [subprocess.run([each], capture_output=True).stdout for each in (path, fair)]
    assert answers[0] == answers[1] != b""
    assert bool(bound.speed) == is_run


@pytest.mark.parametrize(("seconds", "is_kept"), [(1.45, True), (1.55, False)])
def test_a_fast_enough_program_stays_unchanged(
    parts: Any, takes: TakesSeconds, seconds: float, is_kept: bool
) -> None:
    linker, whole, fair, binary = parts
    plan = BinaryPlan("program", "program", "default<Oz>", linker=FOLDING)
    bound = Slowdown(linker, RunCommand("./program", binary.root, binary.path), whole, fair, 0.5)
    build = bound._make(plan)  # pyright: ignore[reportPrivateUsage]  # no public name tells
    takes(build.path, seconds)
    assert (bound.within(build) == build) == is_kept
    assert (bound.notes == []) == is_kept
    assert bound.speed["speedup"] == (1 / seconds if is_kept else 1.0)
