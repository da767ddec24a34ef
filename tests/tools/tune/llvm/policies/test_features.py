# SPDX-License-Identifier: MIT
"""Features of a program for a policy: summed over its modules, as shares of its instructions."""

import math

import pytest

from compiler_gym.errors import BenchmarkInitError
from compiler_gym.tools.tune.llvm.policies import FEATURES, compute_features

ADDS = b"""
define i32 @add(i32 %x) {
  %y = add i32 %x, 1
  %z = add i32 %y, %x
  %w = mul i32 %z, %z
  ret i32 %w
}
"""


def named(modules: list[bytes], *, is_shared: bool = False) -> dict[str, float]:
    return dict(zip(FEATURES, compute_features(modules, is_shared=is_shared), strict=True))


def test_instructions_are_counted_as_shares() -> None:
    seen = named([ADDS])
    assert seen["log2 of instructions"] == 2.0
    assert (seen["Add"], seen["Mul"], seen["Float"], seen["is a library"]) == (0.5, 0.25, 0.0, 0.0)


def test_modules_are_summed() -> None:
    seen = named([ADDS, ADDS.replace(b"@add", b"@more")], is_shared=True)
    assert (seen["log2 of functions"], seen["is a library"]) == (1.0, 1.0)
    assert seen["Add"] == 0.5
    assert seen["modules"] == math.log2(3)


def test_an_invalid_module_is_refused() -> None:
    with pytest.raises(BenchmarkInitError, match="Invalid bitcode signature"):
        compute_features([b"BC\xc0\xdenothing"], is_shared=False)
