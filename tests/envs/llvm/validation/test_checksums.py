# SPDX-License-Identifier: MIT
"""Builds of a program of csmith print the same checksum."""

import shutil
from collections.abc import Callable

import pytest

from compiler_gym.validation import ValidationResult

from .conftest import reason, verdicts

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


@pytest.mark.skipif(shutil.which("csmith") is None, reason="needs csmith")
def test_checksums_of_a_generated_program_agree(validated: Callable[..., ValidationResult]) -> None:
    result = validated("generator://csmith-v0/7", "sroa", "gvn", rungs=("checksums",))
    assert verdicts(result) == {"replay": "ok", "checksums": "ok"}
    assert "-O0, -O1, -O2, -O3, -Oz" in reason(result, "checksums")
