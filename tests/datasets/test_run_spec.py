# SPDX-License-Identifier: MIT
"""Run specifications are checked, and survive their way to a worker."""

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler_gym.datasets import (
    Benchmark,
    BundledPrograms,
    ExpectedOutput,
    GeneratedCases,
    RunCase,
    RunSpec,
    pack_run,
    unpack_run,
)
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


def test_a_spec_comes_back_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"\x00\xff")
    expected = ExpectedOutput.of(3, stdout=b"out", files={"o": b"1"})
    case = RunCase(
        ("-n", "{dir}/a"),
        {"a": b"1", "b": tmp_path / "in.txt"},
        b"typed",
        ("o",),
        expected,
        "small/0",
        "small",
    )
    spec = RunSpec((case, RunCase()), link=("-lm",), time_limit=2.5)
    found = unpack_run(pack_run(spec))
    assert (found.link, found.time_limit, len(found.cases)) == (("-lm",), 2.5, 2)
    assert found.cases[1] == RunCase()
    first = found.cases[0]
    assert (first.argv, first.stdin, first.outputs) == (case.argv, b"typed", ("o",))
    assert first.files == {"a": b"1", "b": b"\x00\xff"}
    assert first.expected == expected
    assert (first.name, first.size) == ("small/0", "small")


def test_the_bytes_are_those_that_kept_measurements_are_found_by(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"\xff")
    expected = ExpectedOutput(3, "ab", {"o": "cd"})
    files = MappingProxyType({"a": b"1", "b": tmp_path / "in"})
    case = RunCase(("-n",), files, b"x", ("o",), expected, "small/0", "small")
    found = pack_run(RunSpec((case, RunCase()), link=("-lm",), time_limit=2.5))
    assert found == (
        b"\x93"  # cases, link and time limit
        b"\x92"
        b"\x97\x91\xa2-n\x82\xa1a\xc4\x011\xa1b\xc4\x01\xff\xc4\x01x\x91\xa1o"
        b"\x93\x03\xa2ab\x81\xa1o\xa2cd\xa7small/0\xa5small"
        b"\x97\x90\x80\xc4\x00\x90\xc0\xa7default\xa7default"
        b"\x91\xa3-lm"
        b"\xcb\x40\x04\x00\x00\x00\x00\x00\x00"
    )


_PROGRAMS = [str(uri).rpartition("/")[2] for uri in BundledPrograms().benchmark_uris()]


@pytest.mark.parametrize(
    "size", ["test", *(pytest.param(size, marks=pytest.mark.slow) for size in ("small", "ref"))]
)
@pytest.mark.parametrize("name", _PROGRAMS)
def test_every_case_of_a_bundled_program_comes_back(name: str, size: str) -> None:
    run = BundledPrograms()[name].run
    assert run is not None
    known = replace(run, cases=tuple(run.of_size(size).cases), more=None)
    assert unpack_run(pack_run(known)) == known


_TEXT = st.text(max_size=9)
_EXPECTED = st.builds(
    ExpectedOutput,
    st.integers(-255, 255),
    st.none() | _TEXT,
    st.dictionaries(_TEXT, st.none() | _TEXT, max_size=3),
)
_CASES = st.builds(
    RunCase,
    st.lists(_TEXT, max_size=3).map(tuple),
    st.dictionaries(_TEXT, st.binary(max_size=9), max_size=3),
    st.binary(max_size=9),
    st.lists(_TEXT, max_size=3).map(tuple),
    st.none() | _EXPECTED,
    _TEXT,
    _TEXT,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(_CASES, max_size=3).map(tuple), st.lists(_TEXT, max_size=2).map(tuple), st.floats(0)
)
def test_any_run_comes_back(
    cases: tuple[RunCase, ...], link: tuple[str, ...], time_limit: float
) -> None:
    spec = RunSpec(cases, link=link, time_limit=time_limit)
    assert unpack_run(pack_run(spec)) == spec


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\x90", b"\x93\x91\x90\x90\x01", b"\x93\x90\x91\x01\x01"]
)
def test_other_bytes_are_not_a_run(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"Expected|truncated"):
        unpack_run(data)


def test_a_value_that_no_message_can_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="a run specification cannot contain"):
        pack_run(RunSpec.single(files={"a": object()}))  # type: ignore[dict-item]  # no file


def test_a_bundled_program_sends_only_a_run_of_the_users_own() -> None:
    program = BundledPrograms().benchmark("benchmark://cbench-v1/crc32")
    assert program.encode_run() == b""
    program.run = RunSpec.single(argv=("x",))
    assert unpack_run(program.encode_run()).cases[0].argv == ("x",)


def test_a_program_that_cannot_be_run_sends_nothing() -> None:
    assert Benchmark("demo-v0/1", b"BC").encode_run() == b""
