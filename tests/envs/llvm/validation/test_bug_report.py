# SPDX-License-Identifier: MIT
"""A report shows the bug with LLVM's own tools alone, on little IR.

The crash is one of LLVM 22's own; the miscompile is made by an ``opt`` that lies.
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark, RunCase, RunSpec
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark_from_source
from compiler_gym.envs.llvm.validation import bug_report
from compiler_gym.envs.llvm.validation.bug_report import write_bug_report
from compiler_gym.errors import CacheError, MinimizationError

MakeEnv = Callable[..., LlvmEnv]
TOOLS = ("opt-22", "llvm-reduce-22", "llvm-stress-22", "clang-22")
pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS), reason=f"needs {', '.join(TOOLS)}"
)
PROGRAM = """
#include <stdio.h>
int used(int a) { return a * 3; }
int sum(int a, int b) { return a + b; }
int main(int argc, char **argv) {
  int n = argc;
  if (n > 5) puts("many");
  printf("%d\\n", sum(n, used(7)));
}
"""
LYING_OPT = """#!/bin/sh
# Does what the real one does, and then turns sums into differences.
for last; do :; done
case "$*" in
  *early-cse*) ;;
  *) exec {opt} "$@" ;;
esac
{opt} "$@" || exit $?
previous=
for word; do [ "$previous" = -o ] && target=$word; previous=$word; done
[ "$target" = /dev/null ] && exit 0
{opt} -S "$target" -o "$target.txt"
sed -i 's/= add /= sub /; s/= add nsw /= sub nsw /' "$target.txt"
{opt} "$target.txt" -o "$target"
"""


def test_a_crash_of_llvm_is_reduced_to_little_ir(make_env: MakeEnv, tmp_path: Path) -> None:
    env = make_env(action_space="PassesAll")
    env.reset(benchmark="generator://llvm-stress-v0/0")
    env.step(env.action_space["scalarizer<load-store>"])
    assert not env.in_episode
    report = env.write_bug_report(tmp_path / "report")
    assert (report.is_shown, report.is_reduced) == (True, True)
    assert report.lines < 30
    shown = subprocess.run(["sh", "-c", report.command], cwd=report.folder, capture_output=True)
    assert shown.returncode in (-11, 139)
    assert (report.folder / "command.txt").read_text().strip() == report.command
    text = (report.folder / "README.md").read_text()
    assert "Expected: the command exits with status 0" in text
    assert "Found: opt-22 exits with status 139" in text
    assert 'Running pass "scalarizer" on function' in text
    assert re.search(r"Version: .*LLVM version 22\..*target: ", text)
    assert str(report.folder) not in text + (report.folder / "reduced.ll").read_text()


def test_a_bug_that_opt_does_not_reproduce_is_reported_as_such(tmp_path: Path) -> None:
    module = b"define void @f() {\n  ret void\n}\n"
    report = write_bug_report(tmp_path, module=module, pipeline="function(sroa)", kind="crash")
    assert (report.is_shown, report.is_reduced) == (False, False)
    text = (tmp_path / "README.md").read_text()
    assert "opt-22 does not fail" in text
    assert "did not reproduce this bug" in text


@pytest.mark.parametrize("reduces", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_miscompile_is_reduced_while_the_program_stays_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reduces: bool
) -> None:
    lying = tmp_path / "bin" / "opt-22"
    lying.parent.mkdir()
    lying.write_text(LYING_OPT.format(opt=shutil.which("opt-22")))
    lying.chmod(0o755)
    module = make_benchmark_from_source(PROGRAM, lang="c").contents
    monkeypatch.setenv("PATH", f"{lying.parent}:/usr/bin:/bin")
    if not reduces:
        monkeypatch.setattr(bug_report, "_REDUCE", "no-such-tool")
    report = write_bug_report(
        tmp_path / "report",
        module=module,
        pipeline="function(sroa,early-cse)",
        kind="miscompile",
        case=RunCase(("1", "2"), {"unused.txt": b"x"}),
        details="the program behaves differently",
    )
    assert report.is_shown
    assert report.is_reduced == reduces
    script = report.folder / "interesting.sh"
    smallest = "reduced.ll" if reduces else "program.ll"
    assert subprocess.run([script, report.folder / smallest]).returncode == 0
    assert subprocess.run([script, report.folder / "program.bc"]).returncode == 0
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert subprocess.run([script, report.folder / "program.bc"]).returncode != 0
    assert (
        "the program behaves the same before and after" in (report.folder / "README.md").read_text()
    )


def test_a_program_that_does_its_job_has_no_miscompile(make_env: MakeEnv, tmp_path: Path) -> None:
    env = make_env()
    env.reset(benchmark="cbench-v1/crc32")
    with pytest.raises(MinimizationError, match="nothing to report"):
        env.write_bug_report(tmp_path / "report", "miscompile")


def test_a_program_that_does_something_else_is_reported_with_its_input(
    make_env: MakeEnv, tmp_path: Path
) -> None:
    source = 'int puts(const char *); int main() { puts("right"); }'
    right, wrong = (
        make_benchmark_from_source(text, lang="c")
        for text in (source, source.replace("right", "wrong"))
    )
    env = make_env()
    spec = RunSpec((RunCase(("7",), name="seven"),), reference=right.contents)
    env.reset(benchmark=Benchmark(right.uri, wrong.contents, run=spec))
    report = env.write_bug_report(tmp_path / "report", "miscompile")
    assert not report.is_shown  # no pass is to blame: opt does what it should
    assert "case='seven'" in (report.folder / "README.md").read_text()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match=r"cannot write .*report: Not a directory"):
        write_bug_report(tmp_path / "file" / "report", module=b"", pipeline="", kind="crash")
