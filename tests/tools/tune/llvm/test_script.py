# SPDX-License-Identifier: MIT
"""The script for a rival: the link-time method, archives and names that a shell would split."""

import subprocess
from pathlib import Path

from compiler_gym.tools.tune import BinaryPlan, SourceFile
from compiler_gym.tools.tune.builds import find_binaries
from compiler_gym.tools.tune.llvm.linking import FOLDING
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from compiler_gym.tools.tune.llvm.script import write_script
from tests.tools.tune.builds.projects import record, write_project
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld


def test_both_methods_make_the_same_bytes_in_a_tree_of_an_odd_name(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "a tree's name")
    flags = f'CFLAGS=-DN="a b" -I"{tree}"'
    recording = record(tree, tmp_path / "record", "make", flags, compiler=("clang-22",))
    (binary,) = find_binaries(recording.events(), tree)
    sources = tuple(SourceFile(name, "") for name in ("main.c", "twice.c"))
    for method in ("link-time", "program"):
        scope = "internalize<preserve-gv=main>" if method == "program" else ""
        plan = BinaryPlan("program", method, linker=FOLDING, scope=scope, sources=sources)
        made = LlvmTuner().build(binary, plan, tmp_path / method, jobs=1)
        script = f'set -eu\nROOT="{tree}"\nOUT="{tmp_path / method}"\n{write_script(binary, plan)}'
        subprocess.run(["sh", "-c", script], check=True, cwd="/")
        assert (tmp_path / method / "program").read_bytes() == made.read_bytes()
        assert str(tree) not in write_script(binary, plan)
