# SPDX-License-Identifier: MIT
"""How a program is run: its cases, its input files and what it must produce."""

from pathlib import Path

import pytest

from compiler_gym.datasets import ExpectedOutput, GeneratedCases, RunCase, RunSpec
from compiler_gym.errors import BenchmarkInitError


def test_a_run_names_differences_from_the_expected_output() -> None:
    expected = ExpectedOutput.of(stdout=b"1\n", files={"out.txt": b"2"})
    assert expected.differences(ExpectedOutput.of(stdout=b"1\n", files={"out.txt": b"2"})) == ()
    found = ExpectedOutput.of(1, stdout=b"x", files={"out.txt": b"3"})
    assert expected.differences(found) == (
        "exit status 1 instead of 0",
        "standard output",
        "file out.txt",
    )
    assert ExpectedOutput().differences(ExpectedOutput.of(stdout=b"anything")) == ()


def test_input_files_of_a_run_stay_in_its_directory(tmp_path: Path) -> None:
    kept = tmp_path / "kept.bin"
    kept.write_bytes(b"kept")
    root = tmp_path / "run"
    root.mkdir()
    RunCase(files={"a/b.txt": b"text", "c.bin": kept}).write_files(root)
    assert (root / "a/b.txt").read_bytes() == b"text"
    assert (root / "c.bin").read_bytes() == b"kept"
    with pytest.raises(BenchmarkInitError, match="points outside its directory"):
        RunCase(files={"../x": b""}).write_files(root)


def test_the_cases_of_one_size_can_be_picked() -> None:
    spec = RunSpec((RunCase(size="test"), RunCase(size="ref", expected=ExpectedOutput())))
    assert not spec.is_judged
    assert spec.of_size("ref").is_judged
    assert len(spec.of_size("test").cases) == 1


def test_generated_cases_are_made_when_they_are_looked_at() -> None:
    made: list[tuple[str, int]] = []

    def make(size: str, number: int) -> RunCase:
        made.append((size, number))
        return RunCase((str(number),), size=size)

    cases = GeneratedCases([("test", 0), ("test", 1), ("ref", 0)], make)
    spec = RunSpec(cases, link=("-lm",))
    assert len(spec.of_size("test").cases) == 2
    assert spec.of_size("test").link == ("-lm",)
    assert len(cases[1:]) == 2
    assert made == []
    assert cases[1:][0].argv == ("1",)
    assert made == [("test", 1)]


def test_a_number_of_inputs_to_make_is_not_negative() -> None:
    assert RunSpec((RunCase(),), generated=0).generated == 0
    with pytest.raises(ValueError, match=r"generated must be at least 0 \(got -1\)"):
        RunSpec((RunCase(),), generated=-1)
