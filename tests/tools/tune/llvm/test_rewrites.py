# SPDX-License-Identifier: MIT
"""The rewrite of the size plug-in that breaks a program is found with few links."""

import os
import subprocess
from pathlib import Path

import pytest

from compiler_gym.tools.tune.llvm.plugin import find_plugin
from compiler_gym.tools.tune.llvm.rewrites import find_rewrite
from tests.tools.tune.llvm.conftest import needs_lld
from tests.tools.tune.llvm.test_plugin import NODES, needs_plugin

pytestmark = needs_lld
HEADERS = Path(__file__).parents[4] / "native/linker"
WRONG_RULE = """
#include "encodings/rules.h"
#include "encodings/site.h"
using namespace compiler_gym::linker;
extern "C" bool rewrite(llvm::MachineInstr& move, Site& site) {
  if (site.x86.opcode(move) != MOV32ri || !move.getOperand(1).isImm() ||
      move.getOperand(1).getImm() != 4242 || !site.commit())
    return false;
  move.getOperand(1).setImm(4243);
  return true;
}
"""
BROKEN = """
__attribute__((noinline)) int wrong(int x) { return x > 5 ? x * 3 : 4242; }
int main(int count, char **words) { return wrong(count) != 4242; }
"""


@needs_plugin
@pytest.mark.slow
@pytest.mark.parametrize("has_wrong_rule", [True, False])
def test_the_rewrite_that_breaks_a_program_is_found(tmp_path: Path, has_wrong_rule: bool) -> None:
    rule, program, links = tmp_path / "rule.so", tmp_path / "run", 0
    (tmp_path / "rule.cpp").write_text(WRONG_RULE)
    (tmp_path / "run.c").write_text(NODES.replace("int main", "int nodes") + BROKEN)
    headers = [f"-I{HEADERS}", "-isystem/usr/lib/llvm-22/include"]
    command = ["clang++-22", "-std=c++20", "-shared", "-fPIC", "-O1", "-fno-rtti", "-w", *headers]
    subprocess.run([*command, tmp_path / "rule.cpp", "-o", rule], check=True)

    encoding = f"encoding={rule}," if has_wrong_rule else ""

    def is_broken(limit: int) -> bool:
        nonlocal links
        links += 1
        link = ["clang-22", "-Oz", "-flto", "-fuse-ld=lld-22", tmp_path / "run.c", "-o", program]
        switches = f"{encoding}stats={tmp_path / 'counts'},limit={limit}"
        environment = os.environ | {"COMPILER_GYM_SIZE": switches}
        load = f"-Wl,--load-pass-plugin={find_plugin()}"
        subprocess.run([*link, "-Wl,--export-dynamic", load], env=environment, check=True)
        return subprocess.run([program], check=False).returncode != 0

    number, place = find_rewrite(is_broken, tmp_path / "counts")
    assert place == ("own in wrong" if has_wrong_rule else "")
    assert number > 1
    assert links <= 3 + number.bit_length() + 2
