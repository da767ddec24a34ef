# SPDX-License-Identifier: MIT
"""Code computes the same before and after a rule, from random states of the processor.

Instructions come from `random_code`, whole functions with frames from `frames.c`. The program
`differential` fills registers, flags, vectors, memory and stack, runs both versions, and compares
everything that is still live. The slow test runs 200,000 states for each rule.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from compiler_gym.tools.tune.llvm.plugin import explain_problem, find_plugin
from compiler_gym.tools.tune.llvm.rewrites import read_counts
from tests.native.conftest import need
from tests.native.linker.random_code import Code, RandomCode

pytestmark = pytest.mark.skipif(bool(explain_problem()), reason="needs the size plug-in")
FOLDER = Path(__file__).parent
KINDS = {
    "byte-constant": ("constant", "move", "arithmetic", "condition"),
    "compare-one": ("compare", "compare", "condition", "arithmetic", "move"),
    "early-zero": ("constant", "compare", "arithmetic", "condition", "move"),
    "exchange": ("move", "move", "arithmetic", "condition", "load"),
    "packed-single": ("vector", "vector", "load"),
    "pop-stack": ("stack", "stack", "arithmetic", "condition", "move"),
    "push-move": ("move", "arithmetic", "load", "condition"),
    "push-stack": ("stack", "stack", "arithmetic", "condition", "move"),
    "store-zero": ("store", "store", "clear", "arithmetic", "condition", "load"),
}
"""The instructions in the random functions for each rule."""
FRAMES = ("share-restore", "share-save", "shift-frame", "swap-registers", "pop-stack", "push-stack")
FRAME_FLAGS = ("-Oz", "-fPIC", "-shared", "-fno-omit-frame-pointer", "-momit-leaf-frame-pointer")
SAVED_AND_RESULT = "f029 0 0 7"


@pytest.fixture(scope="module")
def differential(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that compares two shared objects."""
    program = tmp_path_factory.mktemp("differential") / "differential"
    command = [need("clang++-22"), "-std=c++20", "-O1", FOLDER / "differential.cpp", "-o", program]
    subprocess.run(command, check=True)
    return program


def compare(program: Path, folder: Path, rows: str, states: int) -> None:
    """Run every function of `rows` with this many states in all."""
    each = -(-states // rows.count("\n"))
    command = [program, folder / "before.so", folder / "after.so", str(each), "1"]
    done = subprocess.run(command, input=rows, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def apply_rule(folder: Path, rule: str, codes: list[Code]) -> list[Code]:
    """Build `codes` before and after `rule`; return those that it changes."""
    text = "--- |\n" + "".join(
        f"  define void @{c.name}() {c.attributes} {{ ret void }}\n" for c in codes
    )
    (folder / "before.mir").write_text(f"{text}...\n{''.join(code.text for code in codes)}")
    llc = [need("llc-22"), "-mtriple=x86_64-linux-gnu", "-verify-machineinstrs"]
    bodies: list[dict[str, str]] = []
    for stem, rules in (("plain", ""), ("after", rule)):
        command = [*llc, f"-load={find_plugin()}", "-run-pass=compiler-gym-encodings"]
        subprocess.run(
            [*command, folder / "before.mir", "-o", folder / f"{stem}.mir"],
            env=os.environ | {"COMPILER_GYM_SIZE": f"rules={rules}"},
            check=True,
        )
        functions = (folder / f"{stem}.mir").read_text()
        bodies.append(dict(re.findall(r"^name: +(\S+)$(.*?)^\.\.\.$", functions, re.M | re.S)))
    for stem in ("before", "after"):
        command = [*llc, "-start-after=x86-seses", "-filetype=obj", "-relocation-model=pic"]
        subprocess.run([*command, folder / f"{stem}.mir", "-o", folder / f"{stem}.o"], check=True)
        linked = [need("clang-22"), "-shared", folder / f"{stem}.o", "-o", folder / f"{stem}.so"]
        subprocess.run(linked, check=True)
    return [code for code in codes if bodies[0][code.name] != bodies[1][code.name]]


def check_code(program: Path, folder: Path, rule: str, functions: int, states: int) -> None:
    """Compare random functions that `rule` changes."""
    random_code = RandomCode(functions, KINDS[rule])
    codes = [random_code.write(f"f{i}") for i in range(functions)]
    changed = apply_rule(folder, rule, codes)
    assert len(changed) > functions // 20
    compare(program, folder, "".join(code.row() for code in changed), states)


def check_frames(program: Path, folder: Path, rule: str, states: int) -> None:
    """Compare whole functions, where `rule` is the only one."""
    source, counts = FOLDER / "frames.c", folder / "counts"
    command = [need("clang-22"), *FRAME_FLAGS, str(source)]
    if rule == "shift-frame":
        command.append("-DKEEPS_FRAME_POINTER")
    subprocess.run([*command, "-o", folder / "before.so"], check=True)
    switches = f"rules={rule},effort=0,stats={counts}"
    subprocess.run(
        [*command, f"-fpass-plugin={find_plugin()}", "-o", folder / "after.so"],
        env=os.environ | {"COMPILER_GYM_SIZE": switches},
        check=True,
    )
    assert read_counts(counts)[rule] > 0
    names = subprocess.run(
        [need("llvm-nm-22"), "-D", "--defined-only", "--format=just-symbols", folder / "after.so"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    rows = "".join(f"{name} {SAVED_AND_RESULT}\n" for name in names if not name.startswith("_"))
    compare(program, folder, rows, states)


@pytest.mark.parametrize("rule", KINDS)
def test_a_rule_keeps_results(differential: Path, tmp_path: Path, rule: str) -> None:
    check_code(differential, tmp_path, rule, functions=60, states=10_000)


@pytest.mark.parametrize("rule", FRAMES)
def test_a_rule_keeps_frames(differential: Path, tmp_path: Path, rule: str) -> None:
    check_frames(differential, tmp_path, rule, states=10_000)


@pytest.mark.slow
@pytest.mark.parametrize("rule", KINDS)
def test_a_rule_keeps_results_in_many_states(differential: Path, tmp_path: Path, rule: str) -> None:
    check_code(differential, tmp_path, rule, functions=1000, states=200_000)


@pytest.mark.slow
@pytest.mark.parametrize("rule", FRAMES)
def test_a_rule_keeps_frames_in_many_states(differential: Path, tmp_path: Path, rule: str) -> None:
    check_frames(differential, tmp_path, rule, states=200_000)
