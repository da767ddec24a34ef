# SPDX-License-Identifier: MIT
"""No path folds functions whose addresses a program compares, unless its build asks for it."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.tools.tune import Request, TuningJob
from compiler_gym.tools.tune.llvm.llvm_tuner import FAIR, LlvmTuner
from tests.native.driver.trees import POLICY, Tree
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld

SOURCE = """
#include <stdio.h>
typedef int (*callback)(int);
__attribute__((noinline)) int on_read(int x) { return x * 7 + 1; }
__attribute__((noinline)) int on_write(int x) { return x * 7 + 1; }
static const char *name(callback f) { return f == on_read ? "read" : "write"; }
int main(int count, char **words) {
  volatile callback f = count > 1 ? on_write : on_read;
  printf("%s %d\\n", name(f), f(count));
}
"""
OWN_WORDS = {
    "": "write 15\n",
    "-Wl,--icf=none": "write 15\n",
    "-Wl,--icf=safe": "write 15\n",
    "-Wl,--icf=all": "read 15\n",
    "-Xlinker --icf=all": "read 15\n",
}
"""What the program prints by what its build tells the linker."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "main.c"
    path.write_text(SOURCE)
    return path


def printed(program: Path) -> str:
    return subprocess.run([program, "w"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("how", ["--recipe small", "--recipe small-packed", POLICY])
def test_a_recipe_and_a_policy_fold_as_the_build_says_and_safely_where_it_says_nothing(
    source: Path, how: str
) -> None:
    tree = Tree(source.parent)
    tree.cc("-c main.c", how)
    for own, expected in OWN_WORDS.items():
        for file in ("main.c", "main.o"):
            assert ("loaded bytes" in tree.cc(f"{file} {own} -o run", how)) == (how == POLICY)
            assert printed(source.parent / "run") == expected


@pytest.mark.parametrize("own", ["", "-Wl,--icf=all"])
def test_a_tuning_and_its_script_fold_as_the_build_says(
    source: Path, tmp_path: Path, own: str
) -> None:
    build = ("sh", "-ec", f"$CC -O2 -fuse-ld=lld {own} main.c -o run")
    output = tmp_path / "tuned"
    request = Request(build, source.parent, output, compilations=6)
    (result,) = TuningJob(request, LlvmTuner()).run()
    script = ["sh", output / "reproduce.sh", output / "work" / "tree", tmp_path / "again"]
    subprocess.run(script, check=True)
    assert printed(output / "bin/run") == printed(tmp_path / "again/run") == OWN_WORDS[own]
    assert printed(result.found.rivals[FAIR]) == OWN_WORDS[own]
