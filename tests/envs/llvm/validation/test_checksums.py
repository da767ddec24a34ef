# SPDX-License-Identifier: MIT
"""Builds of a program of csmith print the same checksum."""

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compiler_gym.datasets import Benchmark, RunCase, RunReport, run_contained
from compiler_gym.envs.llvm.validation import checksums
from compiler_gym.validation import ValidationResult, Verdict
from tests.stand_ins import always, stand_in

from .conftest import reason, verdicts

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


@pytest.mark.skipif(shutil.which("csmith") is None, reason="needs csmith")
def test_checksums_of_a_generated_program_agree(validated: Callable[..., ValidationResult]) -> None:
    result = validated("generator://csmith-v0/7", "sroa", "gvn", rungs=("checksums",))
    assert verdicts(result) == {"replay": "ok", "checksums": "ok"}
    assert "-O0, -O1, -O2, -O3, -Oz" in reason(result, "checksums")


def report(text: bytes, status: int = 0, stopped_by: str | None = None) -> RunReport:
    return replace(run_contained(["/bin/true"], RunCase()), stdout=text, exit_status=status,
                   stopped_by=stopped_by)  # fmt: skip


@pytest.mark.parametrize(
    ("references", "found", "verdict", "reason"),
    [
        (
            [report(b"sum = 1\n")] * 2,
            report(b"sum = 1\n"),
            Verdict.OK,
            "1, exit status 0 at b0, b1",
        ),
        ([report(b"sum = 1\n")] * 2, report(b"sum = 2\n"), Verdict.FAILED, ""),
        ([report(b"sum = 1\n")] * 2, report(b"sum = 1\n", 3), Verdict.FAILED, ""),
        (
            [report(b"sum = 1\n"), report(b"sum = 2\n")],
            report(b"sum = 1\n"),
            Verdict.UNKNOWN,
            "builds of the unchanged program disagree: b0: 1, exit status 0, b1: 2, exit status 0",
        ),
        (
            [report(b"", stopped_by="time")],
            report(b""),
            Verdict.UNKNOWN,
            "the build at b0 does not finish within 10 s",
        ),
        ([report(b"")], report(b""), Verdict.OK, "nothing, exit status 0 at b0"),
    ],
)
def test_a_checksum_is_judged_only_where_all_builds_agree(
    monkeypatch: pytest.MonkeyPatch,
    references: list[RunReport],
    found: RunReport,
    verdict: Verdict,
    reason: str,
) -> None:
    named = [(f"b{number}", ran) for number, ran in enumerate(references)]
    monkeypatch.setattr(checksums, "_references", always(named))
    monkeypatch.setattr(checksums, "make_module", always(b""))
    monkeypatch.setattr(
        checksums, "build_program", stand_in(lambda module: nullcontext(Path("/nowhere")))
    )
    monkeypatch.setattr(checksums, "run_contained", always(found))
    subject: Any = SimpleNamespace(benchmark=Benchmark("benchmark://user-v0/1", b""))
    said = checksums.check_checksums(subject)
    assert (said.verdict, said.reason) == (verdict, reason)
    assert bool(said.errors) == (verdict is Verdict.FAILED)


def test_only_programs_of_csmith_have_a_checksum() -> None:
    subject: Any = SimpleNamespace(benchmark=Benchmark("benchmark://user-v0/1", b""))
    assert not checksums.is_of_csmith(subject)
