# SPDX-License-Identifier: MIT
"""What a module defines and needs is what llvm-nm says."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.envs import llvm
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.envs.llvm.toolchain.symbols import list_copies, read_symbols

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


def test_symbols_are_distinguished_as_nm_does(project: Path) -> None:
    text = """
        extern int imported; extern int weak_one __attribute__((weak)); int common_one;
        static int local_one; int defined_one = 3; void outside(void);
        __attribute__((weak)) int weak_defined(void) { return 1; }
        static int helper(int *p) { return *p + local_one++; }
        int exported(void) { outside(); return helper(&imported) + (&weak_one != 0) + common_one; }
        int other(void) __attribute__((alias("exported"))); int renamed(void) __asm__("odd$name");
        int renamed(void) { struct { char b[900]; } a = {{0}}, c = a; outside(); return c.b[9]; }
    """
    program = llvm.make_benchmark_from_source(text, lang="c")
    (project / "x.bc").write_bytes(program.contents)
    shown = subprocess.check_output(["llvm-nm-22", "x.bc"], text=True)
    lines = [line.split() for line in shown.splitlines()]
    undefined = {line[-1] for line in lines if line[-2] == "U"} - {"weak_one"}
    defined = {line[-1] for line in lines if line[-2] in "TWDBCV"}
    (symbols,) = run_engine("symbols", [program.contents])
    found = [set(part.split("\n")) for part in symbols.decode().split("\0")]
    assert found[0] == defined
    assert found[1] - {"memset", "memcpy"} == undefined - {"memset", "memcpy"}


@pytest.mark.parametrize(
    ("text", "defined", "needed"),
    [
        ("@a = internal global i32 0\n", set[str](), set[str]()),
        ("@a = external global i32\n@b = global i32 0\n", {"b"}, {"a"}),
        ("@a = extern_weak global i32\ndeclare extern_weak void @f()\n", set[str](), set[str]()),
        ('define void @"odd name\\22"() {\n', {'odd name"'}, set[str]()),
        ('declare void @"\\01_asm"()\n', set[str](), {"_asm"}),
        ("define available_externally i32 @f() {\n", set[str](), {"f"}),
        ("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n", set[str](), {"memcpy"}),
        ("declare void @llvm.dbg.value(metadata)\n", set[str](), set[str]()),
        ("@llvm.used = appending global [1 x ptr] [ptr @f]\n", set[str](), set[str]()),
        ("declare void @f()\ndefine void @f() {\n", {"f"}, set[str]()),
        ("define private void @f() {\n", set[str](), set[str]()),
        ("", set[str](), set[str]()),
    ],
)
def test_visible_symbols_are_defined_and_missing_ones_are_needed(
    text: str, defined: set[str], needed: set[str]
) -> None:
    assert read_symbols(text) == (defined, needed)


def test_copies_are_functions_whose_address_is_not_taken() -> None:
    text = """
        $f = comdat any
        @table = global [1 x ptr] [ptr @h]
        @i = linkonce_odr global i32 0
        define linkonce_odr void @f() comdat { call void @"g x"()
        define linkonce_odr void @"g x"() comdat { call void @f()
        define linkonce_odr void @h() comdat { ret void
        define linkonce_odr void @ff() comdat { call void @use(ptr @ff)
        define weak_odr void @j() { ret void
    """
    assert list_copies("\n".join(map(str.strip, text.splitlines()))) == {"f", "g x"}
