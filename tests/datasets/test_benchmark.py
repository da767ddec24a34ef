# SPDX-License-Identifier: MIT
import hashlib
import pickle
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import (
    Benchmark,
    BenchmarkSource,
    BenchmarkUri,
    BenchmarkWithSource,
    ExpectedOutput,
    RunSpec,
)
from compiler_gym.errors import BenchmarkInitError, ValidationUnavailableError


def _one_finding(env: Any) -> list[str]:
    return [f"wrong in {env}"]


def _no_finding(env: Any) -> list[str]:
    return []


class SoundEnv(str):
    """Stands for an environment whose program does what it should."""

    def behaviour_errors(self) -> tuple[str, ...]:
        return ()


def test_a_benchmark_is_pickled_with_everything_that_belongs_to_it() -> None:
    program = Benchmark(
        "a-v0/b?goal=speed",
        b"BC",
        sources=[("b.c", b"int x;")],
        validation_callbacks=[_one_finding],
        run=RunSpec.single(("1",), expected=ExpectedOutput.of(stdout=b"1\n"), time_limit=3),
    )
    again = pickle.loads(pickle.dumps(program))
    assert again == program
    assert again.contents == b"BC"
    assert list(again.sources) == [BenchmarkSource("b.c", b"int x;")]
    assert again.run == program.run
    assert again.validate(SoundEnv("env")) == ["wrong in env"]
    assert again.parameters == {"goal": "speed"}


def test_benchmarks_are_equal_when_their_addresses_are() -> None:
    program = Benchmark("a-v0/b", b"1")
    assert program == Benchmark("benchmark://a-v0/b", b"2") == "benchmark://a-v0/b"
    assert program != Benchmark("a-v0/c", b"1")
    assert len({program, Benchmark("a-v0/b", b"2")}) == 1
    assert program.content_hash == hashlib.sha256(b"1").hexdigest()


def test_validation_reports_what_every_callback_finds() -> None:
    program = Benchmark("a-v0/b", b"")
    assert not program.is_validatable()
    program.add_validation_callback(_one_finding)
    program.add_validation_callback(_no_finding)
    program.add_validation_callback(_one_finding)
    assert program.is_validatable()
    assert program.validate(1) == ["wrong in 1", "wrong in 1"]
    assert next(program.ivalidate(2)) == "wrong in 2"


def test_a_program_that_is_run_is_judged_by_the_environment_before_the_callbacks() -> None:
    class BrokenEnv(SoundEnv):
        def behaviour_errors(self) -> tuple[str, ...]:
            return ("the output differs",)

    program = Benchmark("a-v0/b", b"", run=RunSpec.single(), validation_callbacks=[_one_finding])
    assert program.is_validatable()
    assert program.validate(BrokenEnv("env")) == ["the output differs", "wrong in env"]


def test_an_environment_that_runs_no_program_says_so_instead_of_passing_it() -> None:
    program = Benchmark("a-v0/b", b"", run=RunSpec.single())
    with pytest.raises(ValidationUnavailableError, match="no method `behaviour_errors`"):
        program.validate("env")


def test_another_address_shares_the_contents_and_not_the_lists() -> None:
    program = Benchmark("a-v0/b", b"BC")
    other = program.with_uri(BenchmarkUri.from_string("a-v0/b?goal=size"))
    other.add_source(("x.c", b""))
    other.add_validation_callback(_one_finding)
    assert other.contents is program.contents
    assert str(other) == "benchmark://a-v0/b?goal=size"
    assert (list(program.sources), program.is_validatable()) == ([], False)


def test_a_file_that_cannot_be_read_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkInitError, match="No such file"):
        Benchmark.from_file("a-v0/b", tmp_path / "missing.bc")
    with pytest.raises(BenchmarkInitError, match="directory"):
        Benchmark.from_file("a-v0/b", tmp_path)


def test_sources_are_written_below_the_directory(tmp_path: Path) -> None:
    program = BenchmarkWithSource.create("a-v0/b", b"BC", "src/main.c", b"int x;")
    program.add_source(("lib.h", b"#pragma once"))
    assert program.write_sources_to_directory(tmp_path / "out") == 2
    assert (tmp_path / "out/src/main.c").read_bytes() == b"int x;"
    assert program.source == "int x;"


@pytest.mark.parametrize("name", ["../evil.c", "/evil.c", "a/../../evil.c", "", "nul\0"])
def test_a_source_never_leaves_the_directory(tmp_path: Path, name: str) -> None:
    program = Benchmark("a-v0/b", b"", sources=[("fine.c", b"1"), (name, b"2")])
    with pytest.raises(BenchmarkInitError, match="points outside its directory"):
        program.write_sources_to_directory(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_programs_and_addresses_are_ordered_by_their_text() -> None:
    one, other = (Benchmark.from_file_contents(f"demo-v0/{name}", b"") for name in "ab")
    for first, second in ((one, other), (one.uri, other.uri)):
        assert first <= first
        assert first <= second
        assert second >= first
        assert second > first
        assert not first >= second
        assert first <= "benchmark://demo-v0/b"
        assert first >= "benchmark://demo-v0/a"
    assert sorted([other, one]) == [one, other]
