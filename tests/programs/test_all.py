# SPDX-License-Identifier: MIT
"""What every bundled program must satisfy, whatever its job."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import Compile, build, cases


def test_the_generator_gives_the_published_splitmix64_numbers() -> None:
    rng = cases.Random(1234567)
    assert [rng.bits64() for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_a_case_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    case = cases.Case(files={"../escape": b""}, argv=())
    with pytest.raises(ValueError, match="must lie in its own folder"):
        case.write(tmp_path)


def test_a_hung_program_is_stopped_at_its_time_limit() -> None:
    with pytest.raises(subprocess.TimeoutExpired, match="timed out"):
        cases.run(["sleep", "30"], cases.Case(files={}, argv=()), timeout=0.2)


def test_it_has_enough_cases_and_a_record_of_each(program: Any) -> None:
    assert program.counts["test"] >= 20
    assert program.counts["small"] >= 2
    assert program.counts["ref"] >= 1
    for size in cases.SIZES:
        assert len(program.expected(size)) == program.counts[size]


def test_its_cases_are_the_same_on_every_call_and_differ_from_each_other(program: Any) -> None:
    digests = [case.digest() for case in program.cases("test")]
    assert digests == [case.digest() for case in program.cases("test")]
    assert len(set(digests)) == len(digests)


def test_its_cases_are_those_that_were_recorded(program: Any) -> None:
    recorded = program.recorded("test")
    assert [case.digest() for case in program.cases("test")] == [e["input"] for e in recorded]


def test_its_cases_reach_an_error_exit_and_mostly_succeed(program: Any) -> None:
    failures = [outcome.exit for outcome in program.expected("test") if outcome.exit != 0]
    assert 1 <= len(failures) <= program.counts["test"] // 2
    assert all(0 < status < 98 for status in failures), "a crash or a sanitizer report"


def test_it_gives_the_expected_outputs_at_o2(program: Any, compile: Compile) -> None:
    binary = compile(program.name, flags=["-O2"])
    assert build.mismatches(program, [str(binary)], ["test"]) == []


def test_a_program_that_does_nothing_is_noticed(program: Any) -> None:
    wrong = build.mismatches(program, ["true"], ["test"])
    # An empty input may rightly give an empty output.
    assert len(wrong) >= program.counts["test"] * 3 // 4


@pytest.mark.slow
def test_it_gives_the_expected_outputs_at_o2_on_the_larger_inputs(
    program: Any, compile: Compile
) -> None:
    binary = compile(program.name, flags=["-O2"])
    assert build.mismatches(program, [str(binary)], ["small", "ref"]) == []


def test_its_bitcode_is_what_its_sources_compile_to(program: Any, tmp_path: Path) -> None:
    version = subprocess.run(["clang-22", "--version"], capture_output=True, text=True, check=True)
    if "22.1.8" not in version.stdout:
        pytest.skip("needs clang 22.1.8")
    build.write_bitcode(program, tmp_path / "fresh.bc")
    assert (tmp_path / "fresh.bc").read_bytes() == program.bitcode.read_bytes()


@pytest.mark.parametrize("level", ["-O0", pytest.param("-Oz", marks=pytest.mark.slow)])
def test_its_bitcode_links_and_runs(program: Any, tmp_path: Path, level: str) -> None:
    binary = tmp_path / program.name
    command = ["clang-22", level, str(program.bitcode), "-o", str(binary), *program.link]
    subprocess.run(command, check=True, capture_output=True)
    assert build.mismatches(program, [str(binary)], ["test"]) == []


@pytest.mark.slow
def test_it_runs_clean_under_the_sanitizers(program: Any, compile: Compile) -> None:
    binary = compile(program.name, flags=build.SANITIZERS)
    assert build.mismatches(program, [str(binary)], ["test", "small"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O1", "-O3", "-Oz"])
def test_gcc_and_clang_agree(program: Any, compile: Compile, level: str) -> None:
    gcc = level.replace("-Oz", "-Os")
    for compiler, flag in (("clang-22", level), ("gcc", gcc)):
        binary = compile(program.name, compiler=compiler, flags=[flag])
        assert build.mismatches(program, [str(binary)], ["test", "small"]) == []
