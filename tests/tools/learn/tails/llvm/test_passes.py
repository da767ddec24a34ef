# SPDX-License-Identifier: MIT
"""The passes of tails."""

from compiler_gym import _llvm
from compiler_gym.tools.learn.tails.llvm.passes import PASSES, PROBES

LOOP = b"define void @f() {\n br label %a\na:\n br label %a\n}"


def test_each_runs_on_single_functions():
    assert len(PASSES) == len({*PASSES}) > 80
    for text in (*PASSES, *PROBES):
        _llvm.Module(LOOP).run_on(text, ["f"])
