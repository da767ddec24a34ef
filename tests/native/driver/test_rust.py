# SPDX-License-Identifier: MIT
"""Links of rustc for a user follow the policy; those for the build do not."""

import pytest

from tests.native.driver.trees import CC, SOURCES, Tree
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
LTO = "-Wl,-plugin-opt=O2,-plugin-opt=mcpu=x86-64"
"""The flags that rustc adds for `-Clinker-plugin-lto`."""
MODULE = "all.cgu.0.rcgu.o"
USUAL = "-lgcc_s -lc -nodefaultlibs -pie -o run"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Return a folder with a module as rustc names and optimises it, for speed."""
    tree = Tree(tmp_path_factory.mktemp("rust"))
    parts = SOURCES["parts"]
    tree.write({"all.c": parts["part.c"] + parts["main.c"]})
    tree.run(f"clang-22 -O2 -fPIC -emit-llvm -c all.c -o {MODULE}")
    tree.run("clang-22 -O2 -fPIC -c all.c -o native.rcgu.o")
    for name in ("libcore-60.rlib", "libproc_macro-0e.rlib", "libcompiler_builtins-a4.rlib"):
        tree.run(f"ar rcs {name}")
    (tree.path / "new.rcgu.o").write_bytes((tree.path / MODULE).read_bytes()[:100])
    return tree


def linked(tree: Tree, words: str, own: str = "") -> str:
    (tree.path / "run").unlink(missing_ok=True)
    said = tree.run(f"{CC} -m64 {words} {USUAL} {own}")[1]
    assert tree.printed("run") == "45\n"
    return said


def test_a_whole_program_is_compared_with_the_code_of_rustc(tree: Tree) -> None:
    said = linked(tree, f"{MODULE} {LTO} libcompiler_builtins-a4.rlib")
    assert "loaded bytes with --policy size; the code of rustc " in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [f"{MODULE} {LTO} libproc_macro-0e.rlib libcore-60.rlib",
     f"{MODULE} {LTO.replace('O2', 'O0')} libcore-60.rlib"],
)  # fmt: skip
def test_build_time_programs_are_linked_natively_without_a_message(tree: Tree, words: str) -> None:
    assert linked(tree, words) == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (f"{MODULE} {LTO} libcore-60.rlib", "the standard library is not part of the optimised"),
        (f"native.rcgu.o {LTO}", "rustc passes machine code instead of bitcode: add -Clinker"),
        ("native.rcgu.o", "rustc passes machine code instead of bitcode: add -Clinker-plugin-lto"),
    ],
)
def test_advice_names_what_to_change(tree: Tree, words: str, why: str) -> None:
    said = linked(tree, words)
    assert said.startswith(f"compiler-gym cc: run: linked without --policy size: {why}")
    assert said.count("\n") == 1


def test_bitcode_that_lld_cannot_read_is_reported_as_lld_does(tree: Tree) -> None:
    done = tree.run(f"{CC} new.rcgu.o {LTO} {USUAL}", status=1)
    assert done[1].count("error: ") == 2  # lld's and clang's
    assert "new.rcgu.o" in done[1]


def test_options_for_speed_are_as_the_user_says(tree: Tree) -> None:
    for own, is_small in (("", False), ("--minsize", True)):
        linked(tree, f"{MODULE} {LTO}", f"--no-never-larger {own}")
        code = tree.run("llvm-objdump-22 -d run")[0]
        assert ("divl" in code) == is_small  # by seven: smaller and slower than a multiplication
