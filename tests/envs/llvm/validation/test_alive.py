# SPDX-License-Identifier: MIT
"""Proofs are asked of alive-tv, and only a counterexample fails."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.validation import ValidationResult

from .conftest import verdicts

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
FAKE_ALIVE = """#!/bin/sh
line=----------------------------------------
echo $line; echo 'define i32 @f(i32 %0) {'; echo '=>'; echo "$ALIVE_SAYS"
"""


@pytest.mark.parametrize(
    ("says", "actions", "verdict"),
    [
        ("Transformation seems to be correct!", ("sroa",), "ok"),
        (
            "Transformation doesn't verify!\nERROR: Value mismatch\nExample: %0 = 3",
            ("sroa",),
            "failed",
        ),
        ("Transformation doesn't verify!\nERROR: Value mismatch", ("inline",), "unknown"),
        ("ERROR: Timeout", ("sroa",), "unknown"),
        ("ERROR: Unsupported instruction: fence", ("sroa",), "unknown"),
    ],
)
def test_proofs_are_counted_and_only_a_counterexample_fails(
    validated: Callable[..., ValidationResult], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    says: str, actions: tuple[str, ...], verdict: str,
) -> None:  # fmt: skip
    tool = tmp_path / "alive-tv"
    tool.write_text(FAKE_ALIVE)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("ALIVE_SAYS", says)
    result = validated("cbench-v1/crc32", *actions, rungs=("alive",))
    assert verdicts(result)["alive"] == verdict, result
    assert result.okay() == (verdict != "failed")
