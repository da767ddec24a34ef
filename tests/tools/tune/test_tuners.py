# SPDX-License-Identifier: MIT
"""A compiler's name leads to the tuner for it."""

import pytest

from compiler_gym.errors import UnknownNameError
from compiler_gym.tools.tune import tuner_named


@pytest.mark.parametrize("name", ["llvm", "llvm 22.1.8", None])
def test_the_compiler_that_can_be_tuned_has_a_tuner(name: str | None) -> None:
    assert type(tuner_named(name)).__name__ == "LlvmTuner"


@pytest.mark.parametrize("name", ["", "llvm-22", "mlir", "tcc"])
def test_another_compiler_is_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"no tuner for the compiler .*: use llvm$"):
        tuner_named(name)


@pytest.mark.parametrize("name", ["gcc", "gcc-12", "/usr/bin/gcc-12", "x86_64-linux-gnu-gcc-12"])
def test_an_environment_is_named_for_the_compiler_that_has_only_that(name: str) -> None:
    with pytest.raises(UnknownNameError, match="GCC is available as the environment gcc-v0"):
        tuner_named(name)
