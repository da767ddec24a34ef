# SPDX-License-Identifier: MIT
"""Outcomes are what ``cc --recipe`` makes, measured once, and kept when a run is ended."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.tools.tune import recipe_named
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from compiler_gym_corpus.llvm.learning import (
    FAIR,
    PLAIN,
    Outcomes,
    measure_outcomes,
    open_corpus,
)
from compiler_gym_corpus.llvm.learning.linked import CorpusProgram, list_programs
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld

SMALL = recipe_named("small").plan


@pytest.fixture(name="program")
def one_program(tmp_path: Path) -> CorpusProgram:
    programs = list_programs(open_corpus("debian-sample-v0", tmp_path))
    return next(one for one in programs if one.instructions > 500 and not one.is_shared)


def test_an_outcome_is_what_the_recipe_makes_in_one_line(
    tmp_path: Path, program: CorpusProgram
) -> None:
    (row,) = measure_outcomes(program, [SMALL], Outcomes(tmp_path / "outcomes.jsonl"))
    binary = program.binary(tmp_path / "modules")
    words = [
        *LlvmTuner().plain_words(SMALL),
        "-Wl,--unresolved-symbols=ignore-all",
        "-Wl,--as-needed",
    ]
    sources = [str(unit.path) for unit in binary.units]
    linked = tmp_path / "linked"
    subprocess.run([*words, *sources, "-lm", "-o", linked], check=True, capture_output=True)
    assert (row.code, row.loaded) == (measure_sizes(linked).text, measure_sizes(linked).loaded)
    assert row.seconds > 0


def test_a_rival_without_link_time_optimisation_is_larger(
    tmp_path: Path, program: CorpusProgram
) -> None:
    plain, fair = measure_outcomes(program, [PLAIN, FAIR], Outcomes(tmp_path / "outcomes.jsonl"))
    assert plain.loaded > fair.loaded > fair.code > 0


def test_stored_rows_are_not_measured_again_but_a_cut_line_is(
    tmp_path: Path, program: CorpusProgram
) -> None:
    path = tmp_path / "outcomes.jsonl"
    first = measure_outcomes(program, [PLAIN, FAIR], Outcomes(path))
    path.write_bytes(path.read_bytes()[:-5])
    measured = list[str]()
    again = measure_outcomes(
        program, [PLAIN, FAIR], Outcomes(path), lambda row: measured.append(row.plan)
    )
    assert measured == [first[1].plan]
    assert [(row.code, row.file) for row in again] == [(row.code, row.file) for row in first]
    assert len(list(Outcomes(path).rows())) == 2


def test_a_plan_that_fails_is_a_row_that_gives_the_reason(
    tmp_path: Path, program: CorpusProgram
) -> None:
    broken = replace(FAIR, linker=("-Wl,--no-such-option",))
    (row,) = measure_outcomes(program, [broken], Outcomes(tmp_path / "outcomes.jsonl"))
    assert "no-such-option" in row.error
    assert row.code == 0
