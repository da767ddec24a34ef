# SPDX-License-Identifier: MIT
"""What was reproduced is noted for these results, and for no others."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.leaderboard import Submission, find_policy
from compiler_gym.leaderboard.rerun import has_note, note_rerun, rerun_errors


def test_a_note_belongs_to_the_results_as_they_were(submission: Submission) -> None:
    results = submission.folder / "results.jsonl"
    assert not has_note(submission.folder, results)
    note_rerun(submission.folder, results, submission.outcomes)
    assert has_note(submission.folder, results)
    results.write_bytes(results.read_bytes() + b"\n")
    assert not has_note(submission.folder, results)


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"results": 7}'])
def test_a_damaged_note_is_none(text: str, tmp_path: Path, submission: Submission) -> None:
    results = submission.folder / "results.jsonl"
    note_rerun(submission.folder, results, submission.outcomes)
    (note,) = (path for path in submission.folder.glob("*.json"))
    note.write_text(text)
    assert not has_note(submission.folder, results)


def test_a_cost_that_is_not_found_again_is_said(submission: Submission) -> None:
    first = submission.outcomes[0]
    better = replace(first, found=first.found / 2)
    found = list(rerun_errors(lambda: find_policy("level:-Oz"), submission.task, [better]))
    assert found
    assert {error.data["benchmark"] for error in found} == {first.state.benchmark}
