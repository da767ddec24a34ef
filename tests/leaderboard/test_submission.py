# SPDX-License-Identifier: MIT
"""Nothing in a submission is trusted; the ones in this repository are sound."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym import CompilerEnvStateReader
from compiler_gym.errors import StateFileError
from compiler_gym.leaderboard import (
    Limit,
    Submission,
    find_submissions,
    read_submission,
    verify,
)

from .conftest import PROGRAMS, tampered

ROOT = Path(__file__).parents[2]
SUBMISSIONS = sorted(path.parent for path in (ROOT / "leaderboard").glob("*/*/submission.toml"))


def wrong(submission: Submission, **options: object) -> list[str]:
    errors = verify(submission, **options)  # type: ignore[arg-type]  # varied by the tests
    return sorted({e.type for e in errors} - {"a program of the task is missing"})


def test_what_was_written_is_read_and_verified(submission: Submission) -> None:
    assert wrong(submission, rungs=("run",)) == []
    (found,) = find_submissions(submission.folder.parents[1])
    assert found.name == "Oz"
    assert found.evaluation.summary == submission.evaluation.summary
    states = list(CompilerEnvStateReader.read_paths([submission.folder / "results.jsonl"]))
    assert [state.benchmark for state in states] == PROGRAMS


def test_missing_programs_are_named(submission: Submission) -> None:
    missing = [e for e in verify(submission) if e.type == "a program of the task is missing"]
    assert len(missing) == 21


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: lines[0].update(found=1.0), "another cost is measured"),
        (lambda lines: lines[0].update(baseline=9999.0), "another cost is measured"),
        (lambda lines: lines[0].update(commandline="nope"), "the episode cannot be replayed"),
        (lambda lines: lines[0].update(walltime=99.0), "the limit was passed"),
        (lambda lines: lines.append(lines[0]), "a program is there twice"),
        (
            lambda lines: lines[0].update(benchmark="benchmark://cbench-v1/crc32?goal=speed"),
            "a program is not of the task",
        ),
    ],
)
def test_what_was_changed_is_found(submission: Submission, change, words: str) -> None:  # type: ignore[no-untyped-def]
    assert words in wrong(tampered(submission, change))


def test_more_compilations_than_the_task_allows_are_found(submission: Submission) -> None:
    task = replace(submission.task, limit=Limit(seconds=1, compilations=1))
    assert wrong(replace(submission, task=task)) == []
    counted = tampered(submission, lambda lines: lines[0].update(compilations=2))
    assert wrong(replace(counted, task=task)) == ["the limit was passed"]
    twice = counted.outcomes[1].state.commandline.replace("<Oz>", "<Oz>,default<Oz>")
    longer = tampered(submission, lambda lines: lines[1].update(commandline=twice))
    assert "the episode is longer than the limit" in wrong(replace(longer, task=task))


def test_a_damaged_submission_says_where(submission: Submission) -> None:
    with pytest.raises(StateFileError, match="is no submission"):
        read_submission(submission.folder / "none")
    with pytest.raises(StateFileError, match=r"results\.jsonl, line 2 is no result"):
        tampered(submission, lambda lines: lines[1].pop("found"))
    (submission.folder / "submission.toml").write_text("task = ")
    with pytest.raises(StateFileError, match=r"submission\.toml is damaged"):
        read_submission(submission.folder)


def test_there_are_submissions() -> None:
    assert len(SUBMISSIONS) >= 14


@pytest.mark.parametrize("folder", SUBMISSIONS, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_a_sample_of_every_submission_replays(folder: Path) -> None:
    submission = read_submission(folder)
    seed = sum(folder.name.encode())
    assert verify(submission, sample=2, seed=seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", SUBMISSIONS, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_every_submission_replays_and_its_programs_do_their_jobs(folder: Path) -> None:
    assert verify(read_submission(folder), rungs=("verify", "run")) == []
