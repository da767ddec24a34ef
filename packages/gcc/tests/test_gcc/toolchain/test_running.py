# SPDX-License-Identifier: MIT
"""A program is run as often as was asked for, with what its benchmark says."""

from pathlib import Path

import pytest

from compiler_gym.datasets import ExpectedOutput, RunSpec, pack_run
from compiler_gym.errors import InvalidParameterError, ObservationError
from compiler_gym.session import BenchmarkSpec
from compiler_gym_gcc import Gcc
from compiler_gym_gcc.programs.source import SourceProgram
from compiler_gym_gcc.toolchain.build import Builder
from compiler_gym_gcc.toolchain.running import Running

from ..conftest import needed

PROGRAM = b'#include <stdio.h>\nint main(void) { puts("a"); return 0; }\n'
BROKEN = b"int missing(void);\nint main(void) { return missing(); }\n"
RUN = RunSpec.single(expected=ExpectedOutput.of(stdout=b"a\n"))


def running(folder: Path, text: bytes = PROGRAM, spec: RunSpec | None = RUN) -> Running:
    program = SourceProgram(("a.c",), {"a.c": text})
    builder = Builder(Gcc(needed("gcc-12")), lambda words: program, folder)
    packed = b"" if spec is None else pack_run(spec)
    return Running(BenchmarkSpec("benchmark://own-v0/1", text, run=packed), lambda: builder)


def test_there_are_as_many_times_as_were_requested(tmp_path: Path) -> None:
    runs = running(tmp_path)
    runs.set("runtime_observation_count", "3")
    runs.set("runtime_warmup_runs_count", "1")
    times = runs.times(["-O1"])
    assert len(times) == 3
    assert 0 < runs.seconds(["-O1"]) < 10


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("runtime_observation_count", "0"),
        ("runtime_observation_count", "many"),
        ("runtime_warmup_runs_count", "-1"),
    ],
)
def test_a_count_is_a_whole_number(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="must be a whole number of at least"):
        running(tmp_path).set(name, value)


def test_a_wrong_output_is_not_a_measurement(tmp_path: Path) -> None:
    spec = RunSpec.single(expected=ExpectedOutput.of(stdout=b"b\n"))
    with pytest.raises(ObservationError, match="standard output"):
        running(tmp_path, spec=spec).times(["-O1"])


def test_a_program_that_does_not_link_is_not_a_measurement(tmp_path: Path) -> None:
    with pytest.raises(ObservationError, match="does not link"):
        running(tmp_path, BROKEN).times(["-O0"])


def test_counted_instructions_belong_to_a_way_of_running(tmp_path: Path) -> None:
    one, other = running(tmp_path), running(tmp_path, spec=RunSpec.single(("1",)))
    assert one.identity() == running(tmp_path).identity() != other.identity()
