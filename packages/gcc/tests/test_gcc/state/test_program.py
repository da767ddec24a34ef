# SPDX-License-Identifier: MIT
"""What is found of a program is found once for a command line, errors too."""

from pathlib import Path

import pytest

from compiler_gym.errors import BenchmarkInitError, CompilerDiagnosticError
from compiler_gym.session import BenchmarkSpec
from compiler_gym_gcc.state.program import Program
from compiler_gym_gcc.toolchain.build import Builder
from compiler_gym_gcc.toolchain.spec import get_spec
from tests.stand_ins import always, never

from ..conftest import needed

TEXT = b"int f(int n) { return n * 3; }\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "cache"))


def compiled(folder: Path, text: bytes = TEXT, *, gcc: str = "gcc-12", run: bytes = b"") -> Program:
    benchmark = BenchmarkSpec("benchmark://own-v0/1", text, run=run)
    return Program(get_spec(needed("gcc-12")), benchmark, folder / "work", width=600)


def test_a_fact_that_is_known_is_not_found_again(tmp_path: Path) -> None:
    words = ["-Os"]
    assert compiled(tmp_path).fact("answer", words, always({"answer": 42, "other": 1})) == 42
    again = compiled(tmp_path / "other")
    for name, value in (("answer", 42), ("other", 1)):
        assert again.fact(name, words, never("found again")) == value


def test_a_refusal_is_remembered_for_every_product(tmp_path: Path) -> None:
    refused = ["-flive-patching=inline-clone", "-fipa-pta"]
    program = compiled(tmp_path)
    with pytest.raises(CompilerDiagnosticError) as first:
        program.product(Builder.assembly, refused)
    with pytest.raises(CompilerDiagnosticError) as second:
        program.product(Builder.object, refused)
    assert str(first.value) == str(second.value)


def test_a_program_that_no_setting_made_wrong_is_to_blame_itself(tmp_path: Path) -> None:
    program = compiled(tmp_path, b'__asm__("no such instruction");\n')
    with pytest.raises(BenchmarkInitError, match="the program does not compile"):
        program.product(Builder.object, [])
    with pytest.raises(CompilerDiagnosticError, match="no such instruction"):
        program.product(Builder.object, ["-O1"])
