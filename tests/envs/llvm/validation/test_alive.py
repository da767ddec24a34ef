# SPDX-License-Identifier: MIT
"""Proofs are asked of alive-tv, and only a counterexample fails."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.validation import alive
from compiler_gym.validation import ValidationResult, Verdict

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


LINE = "-" * 40
CORRECT, WRONG = (
    "Transformation seems to be correct!",
    "Transformation doesn't verify!\nERROR: value",
)


def said(*outcomes: str) -> str:
    """Return what alive-tv prints of functions f0, f1, ... with these outcomes."""
    blocks = [f"define i32 @f{n}(i32 %x) {{\n{words}\n" for n, words in enumerate(outcomes)]
    return f"\n{LINE}\n" + f"\n{LINE}\n".join(blocks) + f"\n{LINE}\nSummary:\n 1 correct\n"


@pytest.mark.parametrize(
    ("outcomes", "verdict", "reason"),
    [
        ((), Verdict.UNKNOWN, "alive-tv reported no function"),
        ((CORRECT, CORRECT), Verdict.OK, "2 correct"),
        ((CORRECT, "ERROR: Timeout"), Verdict.UNKNOWN, "1 correct, 1 timeout"),
        (("ERROR: fence",), Verdict.UNKNOWN, "1 unsupported"),
        ((CORRECT, WRONG), Verdict.FAILED, "1 correct, 1 wrong"),
    ],
)
def test_functions_are_counted_by_their_outcome(
    outcomes: tuple[str, ...], verdict: Verdict, reason: str
) -> None:
    found = alive._judge(said(*outcomes), is_local=True)  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert (found.verdict, found.reason) == (verdict, reason)


def test_a_counterexample_names_its_function_and_counts_only_for_local_actions() -> None:
    text = said(CORRECT, *[WRONG] * 5)
    found = alive._judge(text, is_local=True)  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert [error.data["function"] for error in found.errors] == ["f1", "f2", "f3"]
    assert found.errors[0].data["is"].startswith("ERROR: value")
    unsure = alive._judge(text, is_local=False)  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert (unsure.verdict, unsure.errors) == (Verdict.UNKNOWN, ())
    assert "5 wrong; inconclusive, because some actions" in unsure.reason
