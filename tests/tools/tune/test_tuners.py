# SPDX-License-Identifier: MIT
"""A compiler's name, and the name of an installed program, lead to what tunes with it."""

import pytest

from compiler_gym.errors import UnknownNameError
from compiler_gym.tools.tune import tuner_named


@pytest.mark.parametrize("name", ["gcc", "gcc-12", "/usr/bin/gcc-12", "x86_64-linux-gnu-gcc-12"])
def test_a_program_is_known_by_the_compiler_in_its_name(name: str) -> None:
    assert type(tuner_named(name)).__name__ == "GccTuner"


def test_a_compiler_is_known_by_its_own_name() -> None:
    assert type(tuner_named("llvm")).__name__ == "LlvmTuner"


def test_without_a_name_it_is_the_one_that_needs_none() -> None:
    assert type(tuner_named(None)).__name__ == "LlvmTuner"


@pytest.mark.parametrize("name", ["", "nogcc-12", "llvm-22", "mlir"])
def test_another_name_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"use one of .*gcc.*, a program such as gcc-12"):
        tuner_named(name)
