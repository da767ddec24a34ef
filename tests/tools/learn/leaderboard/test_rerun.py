# SPDX-License-Identifier: MIT
"""What was reproduced is noted for these results, and for no others."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256

import pytest

from compiler_gym.errors import StateFileError
from compiler_gym.tools.learn.leaderboard import (
    Limit,
    Submission,
    find_policy,
    find_submissions,
    find_task,
    read_submission,
    write_tables,
)
from compiler_gym.tools.learn.leaderboard.rerun import find_rerun, note_rerun, rerun_errors


def test_a_note_belongs_to_the_results_as_they_were(submission: Submission) -> None:
    root, folder, digest = submission.folder.parents[1], submission.folder, submission.digest
    assert find_rerun(root, folder, digest) is None
    note_rerun(root, folder, digest, submission.outcomes)
    found = find_rerun(root, folder, digest)
    assert found is not None
    assert found.episodes == len(submission.outcomes)
    assert find_rerun(root, folder, "0" * 64) is None
    assert find_rerun(root, folder.with_name("copy"), digest) is None
    assert find_rerun(None, folder, digest) is None
    assert (root / "reruns.json").is_file()


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, '{"a": 7}', '{"a": {"results": "x"}}'])
def test_damaged_notes_are_not_written_over(text: str, submission: Submission) -> None:
    root = submission.folder.parents[1]
    (root / "reruns.json").write_text(text)
    with pytest.raises(StateFileError, match="damaged"):
        find_rerun(root, submission.folder, submission.digest)
    with pytest.raises(StateFileError, match="damaged"):
        note_rerun(root, submission.folder, submission.digest, submission.outcomes)
    assert (root / "reruns.json").read_text() == text


def test_nothing_that_a_submission_brings_is_evidence_of_itself(submission: Submission) -> None:
    root = submission.folder.parents[1]
    note_rerun(root, submission.folder, submission.digest, submission.outcomes)
    notes = (root / "reruns.json").read_bytes()
    (root / "reruns.json").unlink()
    results = sha256((submission.folder / "results.jsonl").read_bytes()).hexdigest()
    old = {"results": results, "machine": "x", "episodes": len(submission.outcomes)}
    (submission.folder / "rerun.json").write_text(json.dumps(old))
    for folder in (submission.folder, submission.folder.parent):
        (folder / "reruns.json").write_bytes(notes)
    nested = submission.folder / "llvm-ic-1s" / "Oz"
    shutil.copytree(submission.folder, nested)
    (submission.folder / "linked").symlink_to(nested)
    for folder in (submission.folder, nested, submission.folder / "linked"):
        for given in (None, root):
            found = read_submission(folder, root=given)
            assert not found.is_reproduced
            assert not found.is_ranked
            assert "| - | Oz |" in write_tables([found])
    assert [s.is_ranked for s in find_submissions(root)] == [False]


def test_a_note_is_of_everything_that_was_verified(submission: Submission) -> None:
    root = submission.folder.parents[1]
    (mine,) = find_submissions(root)
    note_rerun(root, mine.folder, mine.digest, mine.outcomes)
    assert mine.is_ranked
    for change in (
        {"facts": mine.facts | {"name": "another's"}},
        {"facts": mine.facts | {"policy": "level:-O1"}},
        {"task": find_task("llvm-ic-10s")},
        {"outcomes": mine.outcomes[:1]},
        {"outcomes": (replace(mine.outcomes[0], walltime=0.0), *mine.outcomes[1:])},
        {"folder": mine.folder.with_name("copy")},
    ):
        assert not replace(mine, **change).is_ranked  # type: ignore[arg-type]  # fields by name


def test_the_table_has_what_was_measured_and_not_what_was_claimed(submission: Submission) -> None:
    root = submission.folder.parents[1]
    claimed = [replace(o, walltime=0.0, compilations=1) for o in submission.outcomes]
    measured = [replace(o, walltime=0.75, compilations=20) for o in submission.outcomes]
    mine = replace(submission, outcomes=tuple(claimed), root=root)
    assert "| 0.00 | 1 | claimed |" in write_tables([mine])
    note_rerun(root, mine.folder, mine.digest, measured)
    assert "| 0.75 | 20 | reproduced |" in write_tables([mine])


def test_no_task_ranks_what_nobody_has_reproduced(submission: Submission) -> None:
    task = replace(submission.task, limit=Limit(compilations=5))
    assert not replace(submission, task=task).is_ranked


def test_a_cost_that_is_not_found_again_is_said(submission: Submission) -> None:
    first = submission.outcomes[0]
    better = replace(first, found=first.found / 2)
    found = list(rerun_errors(lambda: find_policy("level:-Oz"), submission.task, [better]))
    assert found
    assert {error.data["benchmark"] for error in found} == {first.state.benchmark}
