# SPDX-License-Identifier: MIT
"""A measurement counts only if the program did its job."""

from pathlib import Path

import pytest

from compiler_gym.datasets import (
    ExpectedOutput,
    MeasuredRuns,
    RunCase,
    RunSpec,
    counter_identity,
)
from compiler_gym.errors import ObservationError

SAYS = ExpectedOutput.of(stdout=b"small\n")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program that prints its argument."""
    path = tmp_path / "program"
    path.write_text('#!/bin/sh\necho "$1"\n')
    path.chmod(0o755)
    return path


def test_times_are_of_the_largest_case(program: Path) -> None:
    wrong = ExpectedOutput.of(stdout=b"something else\n")
    small = RunCase(("small",), expected=SAYS, size="small")
    ref = RunCase(("ref",), name="ref/0", size="ref")
    wrong_small = RunCase(("small",), expected=wrong, size="small")
    wrong_ref = RunCase(("ref",), expected=wrong, name="ref/0", size="ref")
    assert len(MeasuredRuns(RunSpec((wrong_small, ref))).seconds(program, count=2, warmups=1)) == 2
    with pytest.raises(ObservationError, match="failed case 'ref/0': standard output"):
        MeasuredRuns(RunSpec((small, wrong_ref))).seconds(program, count=1)


def test_two_programs_are_run_alternately(program: Path) -> None:
    runs = MeasuredRuns(RunSpec.single(("small",), expected=SAYS))
    one, other = runs.in_turns((program, program), count=3, warmups=1)
    assert (len(one), len(other)) == (3, 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo other", "standard output"),
        ("echo small; exit 3", "exit status 3 instead of 0"),
        ("kill -SEGV $$", "killed by signal 11"),
        ("sleep 5", "exceeded its limit of time"),
        ("echo help >&2; exit 1", "help"),
    ],
)
def test_a_run_that_fails_is_not_a_measurement(text: str, reason: str, program: Path) -> None:
    program.write_text(f"#!/bin/sh\n{text}\n")
    runs = MeasuredRuns(RunSpec.single(("small",), expected=SAYS, time_limit=0.5))
    assert not runs.succeeds(program)
    with pytest.raises(ObservationError, match=reason):
        runs.seconds(program, count=1)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [(None, "has no RunSpec"), (RunSpec(()), "RunSpec has no cases")],
)
def test_a_program_without_a_run_spec_reports_it(
    spec: RunSpec | None, reason: str, program: Path
) -> None:
    runs = MeasuredRuns(spec)
    assert not runs.is_known
    assert not runs.succeeds(program)
    assert runs.link_flags == ()
    with pytest.raises(ObservationError, match=reason):
        runs.seconds(program, count=1)


def test_instructions_are_counted_of_a_binary() -> None:
    try:
        identity = counter_identity()
    except ObservationError as error:
        pytest.skip(str(error))
    assert identity
    counted = MeasuredRuns(RunSpec.single()).instructions(Path("/bin/true"))
    assert 10_000 < counted < 100_000_000
