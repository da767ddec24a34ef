# SPDX-License-Identifier: MIT
"""MLIR's own words reach the caller, and a missing installation says what to install."""

import sys

import pytest

from compiler_gym.errors import CompilerDiagnosticError, EnvironmentNotSupported
from compiler_gym_mlir.toolchain.bindings import load, report_diagnostics


def test_diagnostics_are_in_the_message() -> None:
    with (
        pytest.raises(CompilerDiagnosticError, match=r"try: .*custom op .what."),
        report_diagnostics("try"),
    ):
        load().ir.Module.parse("what is this")


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlir.execution_engine", None)
    with pytest.raises(EnvironmentNotSupported, match=r"pip install .compiler-gym-next\[mlir\]"):
        load.__wrapped__()
