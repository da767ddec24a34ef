# SPDX-License-Identifier: MIT
"""The passes of the plot are those of -Oz, and end where -Oz ends."""

import shutil

import pytest

import compiler_gym
from compiler_gym.envs.llvm.observations import AUTOPHASE_FEATURES
from docs.plot_autophase import autophase_along_oz


@pytest.mark.skipif(shutil.which("opt-22") is None, reason="needs opt-22")
def test_the_plot_ends_with_what_oz_makes_of_the_program() -> None:
    program = "benchmark://cbench-v1/crc32"
    passes, values = autophase_along_oz(program)
    column = values[:, AUTOPHASE_FEATURES.index("TotalInsts")]
    assert values.shape == (len(passes) + 1, 56)
    with compiler_gym.make("llvm-v0", benchmark=program) as env:
        env.reset()
        assert column[0] == env.observation["IrInstructionCount"]
        # Analyses are forgotten between the passes here, and kept within clang's pipeline.
        assert column[-1] == pytest.approx(env.observation["IrInstructionCountOz"], rel=0.02)
    assert column[-1] < column[0]
