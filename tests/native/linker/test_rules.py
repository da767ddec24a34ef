# SPDX-License-Identifier: MIT
"""Each rule of the size plug-in changes machine code where its conditions hold, and nowhere else.

Each rule has a file of machine IR with its name. The comment after a function is what the rule
makes of it; a function without such a comment must stay as it is. By hand:

    COMPILER_GYM_SIZE=rules=exchange llc-22 -load=compiler_gym_size.so \
        -run-pass=compiler-gym-encodings -simplify-mir exchange.mir -o -
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from compiler_gym.tools.tune.llvm.plugin import explain_problem, find_plugin
from tests.native.conftest import need

pytestmark = pytest.mark.skipif(bool(explain_problem()), reason="needs the size plug-in")
FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.mir"))
SETTINGS = {"frame", "simple", "unprepared"}
"""Code generations of whole functions, which the plug-in chooses from; not rules."""
PASSES = {
    "shift-frame": "compiler-gym-shift-frame",
    "share-save": "compiler-gym-share-frames",
    "share-restore": "compiler-gym-share-frames",
}


WALKERS = (
    "define ptr @f() { %p = call ptr @llvm.frameaddress.p0(i32 0) ret ptr %p }",
    "define ptr @f() { %p = call ptr @llvm.returnaddress(i32 1) ret ptr %p }",
    'define i64 @f() { %p = call i64 @llvm.read_register.i64(metadata !{!"rbp"}) ret i64 %p }',
    'define i64 @f() { %p = call i64 asm "mov %rbp, $0", "=r"() ret i64 %p }',
    'module asm "f: mov %rbp, %rax"',
)
"""Functions that may follow the chain of frame pointers."""
NO_WALKERS = (
    "define ptr @f() { %p = call ptr @llvm.returnaddress(i32 0) ret ptr %p }",
    'define i64 @f() { %p = call i64 asm "mov %rsp, $0", "=r"() ret i64 %p }',
)


def run_rule(file: Path, rules: str, module: str = "") -> dict[str, str]:
    """Return the body of each function of `file`, in a module with this IR, too, after `rules`."""
    command = [need("llc-22"), f"-load={find_plugin()}", "-mtriple=x86_64-linux-gnu", "-x=mir"]
    command += [f"-run-pass={PASSES.get(file.stem, 'compiler-gym-encodings')}", "-simplify-mir"]
    command += ["-verify-machineinstrs", "-o", "-"]
    environment = os.environ | {"COMPILER_GYM_SIZE": f"rules={rules}"}
    done = subprocess.run(
        command,
        env=environment,
        input=file.read_text().replace("--- |\n", f"--- |\n  {module}\n", 1),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    functions = re.findall(r"^name: +(\S+)$(.*?)^\.\.\.$", done.stdout, re.M | re.S)
    return {name: text.partition("\nbody: ")[2].partition("\n")[2] for name, text in functions}


def read_expected(file: Path) -> dict[str, str]:
    """Return the bodies that the comments of `file` expect."""
    comments = re.findall(r"^# (\S+) becomes:\n((?:#.*\n)*)", file.read_text(), re.M)
    return {name: re.sub(r"^# ?", "", text, flags=re.M) for name, text in comments}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_rule_changes_these_functions_and_no_others(file: Path) -> None:
    before, after, expected = run_rule(file, ""), run_rule(file, file.stem), read_expected(file)
    assert expected
    assert before.keys() - expected.keys(), "a rule needs a function where it must not apply"
    lines = {name: [line.rstrip() for line in text.splitlines()] for name, text in after.items()}
    assert lines == {
        name: [line.rstrip() for line in text.splitlines()]
        for name, text in (before | expected).items()
    }


@pytest.mark.parametrize("module", [*WALKERS, *NO_WALKERS])
def test_frame_pointers_stay_where_a_program_may_follow_them(module: str) -> None:
    file = FOLDER / "shift-frame.mir"
    before, after = run_rule(file, "", module), run_rule(file, file.stem, module)
    assert (before["far_accesses"] == after["far_accesses"]) == (module in WALKERS)


def test_every_rule_has_a_file_and_unknown_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.c").touch()
    done = subprocess.run(
        [need("clang-22"), "-Oz", f"-fpass-plugin={find_plugin()}", "-c", "a.c"],
        env=os.environ | {"COMPILER_GYM_SIZE": "rules=-exchange+no-such-rule"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    refusal = "compiler_gym_size: no rule 'no-such-rule'; use "
    assert done.stderr.startswith(refusal)
    names = set(done.stderr.splitlines()[0].removeprefix(refusal).split(", "))
    assert names >= SETTINGS
    assert names - SETTINGS == {file.stem for file in FILES}


def test_the_guide_names_a_test_for_each_assumption() -> None:
    guide = (FOLDER.parents[2] / "docs" / "guide" / "size-plugin.md").read_text()
    table = guide.partition("<!-- assumptions -->")[2].partition("<!-- end assumptions -->")[0]
    rows = [row.strip("| ").split(" | ") for row in table.strip().splitlines()[2:]]
    names = {file.stem: re.findall(r"^name: +(\S+)$", file.read_text(), re.M) for file in FILES}
    assert {rule for row in rows for rule in re.findall(r"`(.+?)`", row[1])} == names.keys()
    for _, rules, _, tests in rows:
        for test in re.findall(r"`(.+?)`", tests):
            assert any(test in names[rule] for rule in re.findall(r"`(.+?)`", rules)), test
