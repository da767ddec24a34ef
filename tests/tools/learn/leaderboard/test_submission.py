# SPDX-License-Identifier: MIT
"""Nothing in a submission is trusted; the ones in this repository are sound."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym import CompilerEnvStateReader
from compiler_gym.errors import InvalidParameterError, SandboxError, StateFileError
from compiler_gym.tools.learn.leaderboard import (
    Limit,
    Submission,
    find_submissions,
    read_submission,
    verify,
    write_tables,
)
from compiler_gym.tools.learn.leaderboard.submission import (
    _by_limit,  # pyright: ignore[reportPrivateUsage]  # tested on its own
)
from tests.effort import examples
from tests.stand_ins import stand_in

from .conftest import PROGRAMS, tampered

ROOT = Path(__file__).parents[4]
SUBMISSIONS = sorted(path.parent for path in (ROOT / "leaderboard").glob("*/*/submission.toml"))
QUICK = ("llvm-ic-10s", "llvm-ic-unseen")
"""The tasks of which one program of each submission is replayed by every run of the tests."""


def name_of(folder: Path) -> str:
    return f"{folder.parent.name}-{folder.name}"


def wrong(submission: Submission, **options: object) -> list[str]:
    errors = verify(submission, **options)  # type: ignore[arg-type]  # varied by the tests
    return sorted({e.type for e in errors} - {"a program of the task is missing"})


def test_a_written_submission_is_read_and_verified(submission: Submission) -> None:
    assert wrong(submission, rungs=("run",)) == []
    (found,) = find_submissions(submission.folder.parents[1])
    assert found.name == "Oz"
    assert found.evaluation.summary == submission.evaluation.summary
    states = list(CompilerEnvStateReader.read_paths([submission.folder / "results.jsonl"]))
    assert [state.benchmark for state in states] == PROGRAMS


def test_it_is_not_run_without_a_sandbox_unless_requested(
    submission: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_SANDBOX", "none")
    with pytest.raises(SandboxError, match="is untrusted"):
        verify(complete(submission), sample=1)
    assert verify(complete(submission), sample=1, sandbox="none") == []


def test_missing_programs_are_named(submission: Submission) -> None:
    missing = [e for e in verify(submission) if e.type == "a program of the task is missing"]
    assert len(missing) == 21


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (stand_in(lambda lines: lines[0].update(found=1.0)), "a different cost was measured"),
        (stand_in(lambda lines: lines[0].update(baseline=9999.0)), "a different cost was measured"),
        (
            stand_in(lambda lines: lines[0].update(commandline="nope")),
            "the episode cannot be replayed",
        ),
        (stand_in(lambda lines: lines[0].update(walltime=99.0)), "the limit was exceeded"),
        (stand_in(lambda lines: lines.append(lines[0])), "a program appears twice"),
        (
            stand_in(
                lambda lines: lines[0].update(benchmark="benchmark://cbench-v1/crc32?goal=speed")
            ),
            "a program is not part of the task",
        ),
    ],
)
def test_a_changed_submission_is_detected(
    submission: Submission, change: Callable[..., object], words: str
) -> None:
    assert words in wrong(tampered(submission, change))


def test_more_compilations_than_the_task_allows_are_found(submission: Submission) -> None:
    task = replace(submission.task, limit=Limit(seconds=1, compilations=1))
    assert wrong(replace(submission, task=task)) == []
    counted = tampered(submission, lambda lines: lines[0].update(compilations=2))
    assert wrong(replace(counted, task=task)) == ["the limit was exceeded"]
    twice = counted.outcomes[1].state.commandline.replace("<Oz>", "<Oz>,default<Oz>")
    longer = tampered(submission, lambda lines: lines[1].update(commandline=twice))
    assert "the episode is longer than the limit" in wrong(replace(longer, task=task))


def test_a_damaged_submission_says_where(submission: Submission) -> None:
    with pytest.raises(StateFileError, match="is not a submission"):
        read_submission(submission.folder / "none")
    with pytest.raises(StateFileError, match=r"results\.jsonl, line 2 is not a result"):
        tampered(submission, lambda lines: lines[1].pop("found"))
    (submission.folder / "submission.toml").write_text("task = ")
    with pytest.raises(StateFileError, match=r"submission\.toml is damaged"):
        read_submission(submission.folder)


@pytest.mark.parametrize("field", ["initial", "baseline", "found", "walltime"])
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 10**400, -1.0])
def test_numbers_are_finite(submission: Submission, field: str, value: float) -> None:
    with pytest.raises(StateFileError, match=r"results\.jsonl, line 1 is not a result"):
        tampered(submission, lambda lines: lines[0].update({field: value}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("found", ["a"]), ("found", "1"), ("found", None), ("found", True), ("found", {}),
        ("repetition", "0"), ("repetition", 0.5), ("repetition", -1), ("compilations", [1]),
        ("compilations", 1e9), ("is_late", "no"), ("is_late", 0), ("error", 7), ("error", None),
        ("benchmark", ["a"]), ("benchmark", ""), ("reward", float("inf")), ("reward", "x"),
        ("commandline", 7), ("goal", {}), ("compiler_version", 22),
    ],
)  # fmt: skip
def test_fields_hold_what_they_are(submission: Submission, field: str, value: object) -> None:
    with pytest.raises(StateFileError, match=r"results\.jsonl, line 1 is not a result"):
        tampered(submission, lambda lines: lines[0].update({field: value}))


@pytest.mark.parametrize("text", ["9" * 5000, "9" * 5000 + ".5", "[" * 100_000, "", "{}", "[]"])
def test_lines_that_are_not_results_are_refused(submission: Submission, text: str) -> None:
    path = submission.folder / "results.jsonl"
    line = json.loads(path.read_text().splitlines()[0])
    cut = json.dumps(line).replace(f'"reward": {line["reward"]}', f'"reward": {text}')
    for damaged in (cut, text + "\n\n"):
        path.write_text(damaged)
        with pytest.raises(StateFileError, match="line 1 is not a result"):
            read_submission(submission.folder)


@pytest.mark.parametrize("text", ["task = 7", "task = []", "task = 'llvm-ic-1s'\nname = ['a']"])
def test_facts_are_texts(submission: Submission, text: str) -> None:
    (submission.folder / "submission.toml").write_text(text)
    with pytest.raises(StateFileError, match="must be a string"):
        read_submission(submission.folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"compiler_version": "99.9"}, "a different compiler_version was recorded"),
        ({"compiler_version": ""}, "a different compiler_version was recorded"),
        ({"compiler_version": "22.1.8-patched"}, "a different compiler_version was recorded"),
        ({"environment": "gcc-v0"}, "a different environment was recorded"),
        ({"reward_space": "IrInstructionCountO3"}, "a different reward_space was recorded"),
        ({"reward": 5.0}, "the replay earns a different reward"),
        ({"state_hash": "ab" * 16}, "the replay reaches a different program"),
        ({"compilations": 0}, "fewer compilations are claimed than actions replayed"),
        ({"initial": 1.0}, "a different cost was measured"),
    ],
)
def test_claims_about_an_episode_are_compared(
    submission: Submission, change: dict[str, object], words: str
) -> None:
    assert words in wrong(tampered(submission, lambda lines: lines[0].update(change)))


@pytest.mark.parametrize("behind", ["; rm -rf x", " && id", "\nid", " `id`", " > x", " $(id)"])
def test_nothing_follows_a_command_line(submission: Submission, behind: str) -> None:
    text = submission.outcomes[0].state.commandline + behind
    changed = tampered(submission, lambda lines: lines[0].update(commandline=text))
    assert wrong(changed) == ["the episode cannot be replayed"]


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


@settings(max_examples=examples(60))
@given(st.data())
def test_any_tampered_submission_is_an_error_or_verified(submission: Submission, data: Any) -> None:
    kept = (submission.folder / "results.jsonl").read_bytes()
    field = data.draw(st.sampled_from([*json.loads(kept.splitlines()[0]), "other"]))
    value = data.draw(_JUNK)
    before = submission.outcomes[0]
    try:
        changed = tampered(submission, lambda lines: lines[0].update({field: value}))
        found = wrong(replace(changed, outcomes=changed.outcomes[:1]))
        after = changed.outcomes[0]
        costs = (before.initial, before.baseline, before.found)
        # Found wrong, or every cost is the one that is measured.
        assert found or (after.initial, after.baseline, after.found) == costs
    except StateFileError:
        pass
    finally:
        (submission.folder / "results.jsonl").write_bytes(kept)


def complete(submission: Submission) -> Submission:
    """Return it with a task that has the programs it has, so that nothing is missing."""
    return replace(submission, task=submission.task.only(tuple(PROGRAMS)))


def test_a_name_cannot_forge_a_row(submission: Submission) -> None:
    name = "a | 9.999 |\n| 1 | b <!-- end leaderboard -->"
    table = write_tables([replace(submission, facts={**submission.facts, "name": name})])
    assert len(table.splitlines()) == 5
    assert "<!--" not in table


def test_there_are_submissions() -> None:
    assert len(SUBMISSIONS) >= 14


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(p, id=name_of(p), marks=() if p.parent.name in QUICK else pytest.mark.slow)
        for p in SUBMISSIONS
    ],
)
def test_a_sample_of_every_submission_replays(folder: Path) -> None:
    submission = read_submission(folder)
    seed = sum(folder.name.encode())
    assert verify(submission, sample=1, seed=seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", SUBMISSIONS, ids=name_of)
def test_every_submission_replays_and_its_programs_do_their_jobs(folder: Path) -> None:
    assert verify(read_submission(folder), rungs=("verify", "run")) == []


@pytest.mark.parametrize("value", [float("nan"), -1])
def test_a_limit_bounds_something(value: float) -> None:
    with pytest.raises(InvalidParameterError, match="must be at least 0"):
        Limit(seconds=value)
    with pytest.raises(InvalidParameterError, match="must be at least 0"):
        Limit(compilations=value)  # type: ignore[arg-type]  # NaN is no whole number


def test_a_late_submission_has_no_rank(submission: Submission) -> None:
    assert "| 1 | Oz |" in write_tables([submission])
    late = tampered(submission, lambda lines: lines[0].update(is_late=True))
    assert "| Oz |" not in write_tables([late])


def test_the_tables_of_the_page_are_those_of_the_submissions() -> None:
    page = (ROOT / "docs" / "results" / "leaderboards.md").read_text(encoding="utf-8")
    assert write_tables(list(find_submissions(ROOT / "leaderboard"))) in page


def test_tasks_are_ordered_by_their_limits_and_not_by_their_letters() -> None:
    names = "llvm-ic-1s llvm-ic-10s llvm-ic-60s llvm-ic-unseen llvm-ic-3x llvm-ic-100x".split()
    assert sorted(sorted(names), key=_by_limit) == names
