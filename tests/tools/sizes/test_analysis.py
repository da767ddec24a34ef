# SPDX-License-Identifier: MIT
"""Languages are recognised, stripped or not."""

import pytest

from .conftest import BUILDS, Build, analyse


@pytest.mark.parametrize("name", ["rustc", "rustc stripped", "rustc v0", "clang", "g++"])
def test_rust_is_recognised(build: Build, name: str) -> None:
    analysis = analyse(build(*BUILDS[name]))
    assert analysis.is_rust == name.startswith("rustc")
    assert not analysis.is_go


@pytest.mark.parametrize(("name", "throws"), [("g++", True), ("clang++ -g", True), ("gcc", False)])
def test_exception_tables_are_recognised(build: Build, name: str, throws: bool) -> None:
    analysis = analyse(build(*BUILDS[name]))
    assert analysis.throws is throws
    assert analysis.is_code.any()
    assert not analysis.is_code.all()
