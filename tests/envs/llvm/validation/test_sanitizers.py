# SPDX-License-Identifier: MIT
"""Sanitizers see what the output does not show, and blame no program for itself."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import RunCase, run_contained
from compiler_gym.envs.llvm.validation import sanitizers
from compiler_gym.envs.llvm.validation.sanitizers import SANITIZERS, Sanitizer, collect_reports
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.validation import ValidationResult

from .conftest import program, reason, verdicts

ASAN, _, MSAN = SANITIZERS
pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


def test_undefined_behaviour_of_the_program_itself_is_not_a_finding(
    validated: Callable[..., ValidationResult],
) -> None:
    source = "int main(int n, char **v) { int a[2] = {0, 0}; return a[n + 2] * 0; }"
    result = validated(program(source), rungs=("asan", "ubsan"))
    assert result.okay()
    assert "already has reports" in reason(result, "asan")
    assert "already has reports" in reason(result, "ubsan")


@pytest.mark.parametrize(
    ("sanitizer", "source"),
    [
        (ASAN, "int main(int n, char **v) { volatile int a[4] = {1}; return a[n + 3] & 0; }"),
        (
            MSAN,
            "int main(int n, char **v) { volatile int a[4]; a[0] = 1;"
            'if (a[n]) __asm__ volatile(""); return 0; }',
        ),
    ],
    ids=["asan", "msan"],
)
def test_a_sanitizer_sees_what_the_output_does_not_show(sanitizer: Sanitizer, source: str) -> None:
    module = program(source).contents
    ((case, report),) = collect_reports(sanitizer, module, [RunCase()], ())
    assert case.name == "default"
    assert "Sanitizer:" in report


def test_missing_tools_are_named(
    validated: Callable[..., ValidationResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = shutil.which

    def which(name: str, *words: Any) -> str | None:
        return None if name == "opt-22" else known(name, *words)

    monkeypatch.setattr(shutil, "which", which)
    source = "int main(void) { return 7; }"
    result = validated(program(source), rungs=("asan",))
    assert "opt-22 not found; install it with `apt install llvm-22`" in reason(result, "asan")


def test_a_compiler_without_sanitizers_is_reported(
    validated: Callable[..., ValidationResult], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clang = tmp_path / "clang-22"
    clang.write_text(
        '#!/bin/sh\ncase "$*" in *-fsanitize=*) echo "cannot find libclang_rt" >&2; exit 1;; esac\n'
        f'exec {shutil.which("clang-22")} "$@"\n'
    )
    clang.chmod(0o755)
    benchmark = program("int main(int n, char **v) { return n; }", RunCase(("8",)))
    monkeypatch.setenv("COMPILER_GYM_CLANG", str(clang))
    result = validated(benchmark, rungs=("asan", "ubsan", "generated", "run"))
    for name in ("asan", "ubsan", "generated"):
        assert "`apt install libclang-rt-22-dev`: cannot find" in reason(result, name)
    unknown = dict.fromkeys(("generated", "asan", "ubsan"), "unknown")
    assert verdicts(result) == {"replay": "ok", "run": "ok", **unknown}


def test_each_sanitizer_watches_the_module_or_is_compiled_in_from_source() -> None:
    assert [one.name for one in SANITIZERS] == ["asan", "ubsan", "msan"]
    for one in SANITIZERS:
        assert one.flag.startswith("-fsanitize=")
        assert bool(one.attribute) == bool(one.instrument)


def test_a_clean_program_is_reported_by_none() -> None:
    module = program("int main(void) { volatile int a[4] = {1}; return a[3]; }").contents
    for one in (ASAN, MSAN):
        assert collect_reports(one, module, [RunCase()], ()) == []


def test_the_report_of_a_sanitizer_is_its_first_marked_line() -> None:
    ran = replace(
        run_contained(["/bin/true"], RunCase()),
        stderr=b"==1==warning\n  ERROR: AddressSanitizer: use-after-free\nAddressSanitizer: b\n",
    )
    assert sanitizers._report_in(ASAN, ran) == "ERROR: AddressSanitizer: use-after-free"  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert sanitizers._report_in(MSAN, ran) == ""  # pyright: ignore[reportPrivateUsage]  # tested on its own


def test_a_program_of_unknown_source_has_no_checks_of_undefined_behaviour() -> None:
    with pytest.raises(BenchmarkInitError, match="the benchmark does not include its sources"):
        sanitizers._from_source(SANITIZERS[1], [("notes.txt", b"")])  # pyright: ignore[reportPrivateUsage]  # tested on its own
