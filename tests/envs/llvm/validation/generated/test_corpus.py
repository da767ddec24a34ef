# SPDX-License-Identifier: MIT
"""Inputs are made that reach new ways, always the same ones, and are kept for the next time."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark, RunLimits
from compiler_gym.envs.llvm.validation.build import REFERENCE, build_program
from compiler_gym.envs.llvm.validation.generated import Corpus, Effort, corpus, make_corpus
from compiler_gym.validation import run_program

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
EFFORT = Effort(tries=60, most=40)
FEW = replace(EFFORT, tries=12)


@pytest.fixture(scope="module")
def found(right: Benchmark) -> Corpus:
    return make_corpus(right, EFFORT)


def test_more_is_reached_than_before(found: Corpus) -> None:
    assert found.reached_before < found.reached <= found.edges
    assert found.tried == EFFORT.tries
    assert 5 < len(found.cases) <= EFFORT.most
    assert found.knows_source
    assert f"{found.reached} of {found.edges} edges" in found.summary


def test_an_option_and_a_number_of_the_program_are_found(found: Corpus) -> None:
    assert any(case.argv[0] == "--deep" for case in found.cases if case.argv)
    assert any(b"300" in bytes(c.files.get("numbers", b"")) for c in found.cases)  # type: ignore[arg-type]


def test_no_input_makes_the_program_write_where_it_must_not(
    right: Benchmark, found: Corpus
) -> None:
    for case in found.cases:
        words = bytes(case.files.get("numbers", b"")).split()  # type: ignore[arg-type]
        assert not any(word.isdigit() and 1_000_000 < int(word) < 2**31 for word in words), case
    with build_program(right.contents, flags=REFERENCE) as plain:
        for case in found.cases[:10]:
            ran = run_program(plain, case, limits=RunLimits())
            assert ran.exit_status in (0, 2, 3)


def test_damaged_files_are_regenerated_equally_and_other_seeds_differ(
    right: Benchmark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    monkeypatch.setattr(corpus, "_memory", {})  # another test may have made the same
    first = make_corpus(right, FEW)
    (path,) = tmp_path.glob("generated-inputs/*.bin")
    monkeypatch.setattr(corpus, "_memory", {})
    with monkeypatch.context() as context:
        context.setattr(corpus, "_make_corpus", None)
        assert make_corpus(right, FEW) == first
    path.write_bytes(path.read_bytes()[:-5])
    monkeypatch.setattr(corpus, "_memory", {})
    assert make_corpus(right, FEW) == first
    assert make_corpus(right, replace(FEW, seed=1)).cases != first.cases


def test_an_interrupted_run_is_not_kept(
    right: Benchmark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    cut = make_corpus(right, replace(EFFORT, seconds=0.0, seed=7))
    assert (cut.tried, cut.cases) == (0, ())
    assert not list(tmp_path.rglob("*.bin"))
    assert make_corpus(right, replace(FEW, seed=7)).tried == FEW.tries


def test_a_program_with_other_inputs_gets_others(right: Benchmark) -> None:
    other = Benchmark(right.uri, right.contents, sources=right.sources, run=right.run)
    assert other.run is not None
    other.run = replace(other.run, cases=other.run.cases[1:])
    assert make_corpus(other, FEW).cases != make_corpus(right, FEW).cases
