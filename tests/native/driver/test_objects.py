# SPDX-License-Identifier: MIT
"""Objects that a build edits are linked as they are, and whole or not at all written."""

import subprocess
from pathlib import Path

import pytest

from tests.native.driver.conftest import Make
from tests.native.driver.test_linking import WITHOUT
from tests.native.driver.trees import RECIPE, Tree
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
EDITS = {
    "--redefine-sym step=other": "21 unset\n",
    "--redefine-syms=names": "21 unset\n",
    "--update-section stamp=new": "11 new\n",
    "--add-section .extra=new": "11 unset\n",
    "--weaken-symbol main": "11 unset\n",
    "--globalize-symbol hidden": "11 unset\n",
    "--localize-symbol text": "11 unset\n",
    "--set-symbol-visibility text=hidden": "11 unset\n",
    "--add-symbol more=.text:0,global": "11 unset\n",
    "--rename-section stamp=stamps": "11 unset\n",
    "--set-section-flags stamp=alloc,readonly,data": "11 unset\n",
    "--set-section-alignment stamp=64": "11 unset\n",
    "--remove-section .comment": "11 unset\n",
}


def uses_ir(said: str) -> bool:
    """Return whether both links used the IR; which of them is smaller does not matter here."""
    return "linked without" not in said and " loaded bytes with " in said and "-Oz -flto" in said


@pytest.mark.parametrize("tool", ["objcopy", "llvm-objcopy-22"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_object_is_linked_as_it_is(make: Make, edit: str, tool: str) -> None:
    tree = make("edited")
    tree.write({"names": "step other\n", "new": "new\0\0\0\0\0"})
    if "visibility" in edit and tool == "objcopy":
        pytest.skip("GNU's objcopy has no such option")
    tree.run(f"{tool} {edit} use.o")
    said = tree.cc("use.o step.o other.o")
    assert f"{WITHOUT}use.o was changed after it was compiled" in said
    assert tree.printed() == EDITS[edit]
    tree.cc("use.o step.o other.o -o run", RECIPE)
    assert tree.printed("run") == EDITS[edit]
    assert ("--add-section" in edit) == (".extra" in tree.run("readelf -SW a.out")[0])


@pytest.mark.parametrize(
    "tool",
    ["objcopy", "llvm-objcopy-22", "strip -g", "llvm-strip-22 -g", "strip --strip-unneeded",
     "llvm-strip-22 --strip-unneeded", "objcopy --compress-debug-sections", "touch"],
)  # fmt: skip
def test_tools_that_change_no_code_keep_the_plan(make: Make, tool: str) -> None:
    tree = make("edited")
    tree.cc("-g -c use.c")
    tree.run(f"{tool} use.o")
    assert uses_ir(tree.cc("use.o step.o"))
    tree.run("ar rcs libuse.a use.o step.o")
    tree.run("ranlib libuse.a")
    tree.run(f"{tool} libuse.a")
    assert uses_ir(tree.cc("libuse.a -o run"))
    assert tree.printed("run") == "11 unset\n"


def test_an_object_of_another_compiler_is_linked_as_it_is(make: Make) -> None:
    tree = make("edited")
    tree.run("clang-22 -O2 -flto -ffat-lto-objects -c step.c")
    said = tree.cc("use.o step.o")
    assert f"{WITHOUT}step.o was changed after it was compiled, or compiler-gym-cc did not" in said
    tree.run("clang-22 -O2 -c step.c")
    assert uses_ir(tree.cc("use.o step.o"))
    tree.run("clang-22 -O2 -flto -c step.c")
    assert uses_ir(tree.cc("use.o step.o"))
    assert tree.printed() == "11 unset\n"


def test_constants_in_response_files_are_as_clang_reads_them(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.write(
        {
            "a.rsp": '\'-DNAME=\\"single\\"\'\n"-DPATHS=\\"a\\\\\\\\b\\""\n',
            "m.c": "#include <stdio.h>\nint main(void) { puts(NAME); puts(PATHS); return 0; }\n",
        }
    )
    tree.cc("@a.rsp m.c")
    assert tree.printed() == "single\na\\b\n"


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    tree, disk, written = Tree(tmp_path), tmp_path / "disk", 0
    disk.mkdir()
    for size in range(1, 4096, 128):  # until what clang writes fills a page, and ours does not fit
        tree.write({"p.c": f"const char pad[{size}] = {{1}}; int f(int n) {{ return pad[n]; }}\n"})
        tree.run("clang-22 -Oz -flto -ffat-lto-objects -fno-addrsig -c p.c")
        written = (tmp_path / "p.o").stat().st_size
        if -written % 4096 < 256:
            break
    size = f"size={-(-written // 4096) * 4}k"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", disk], check=False).returncode:
        pytest.skip("needs the right to mount")
    try:
        said = tree.cc("-c p.c -o disk/p.o", status=1)
        assert said == "compiler-gym cc: cannot write disk/p.o: No space left on device\n"
        assert not (disk / "p.o").exists()
    finally:
        subprocess.run(["umount", disk], check=True)
