# SPDX-License-Identifier: MIT
"""``policy measure`` keeps what programs weigh, and never looks at those that are judged by."""

import json
from pathlib import Path

import pytest

from tests.command_line import Run


@pytest.mark.slow
def test_programs_are_measured_once_and_only_of_the_splits_that_are_learnt_from(
    cli: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "outcomes"
    words = ("policy", "measure", "debian-sample-v0", "--output", str(folder), "--json")
    first = json.loads(cli(*words, "--most", "100").output)
    rows = [json.loads(line) for line in (folder / "outcomes.jsonl").read_text().splitlines()]
    assert first["outcomes"] == len(rows) > first["programs"] > 0
    assert {row["split"] for row in rows} <= {"train", "validation"}
    assert json.loads(cli(*words, "--most", "100").output) == first
    assert len((folder / "outcomes.jsonl").read_text().splitlines()) == len(rows)


def test_a_corpus_that_is_not_there_is_an_error_with_a_name(cli: Run, tmp_path: Path) -> None:
    ran = cli("policy", "measure", "no-such-corpus", "--output", str(tmp_path))
    assert ran.status == 2
    assert "no-such-corpus" in ran.errors


def test_a_split_without_programs_is_an_error(cli: Run, tmp_path: Path) -> None:
    ran = cli("policy", "judge", "debian-sample-v0", "--most", "1", "--output", str(tmp_path))
    assert ran.status == 2
    assert "no linked programs in the split test with at most 1 instructions" in ran.errors


@pytest.mark.slow
def test_a_recipe_is_judged_on_the_test_split_against_both_rivals(cli: Run, tmp_path: Path) -> None:
    words = ("policy", "judge", "debian-sample-v0", "--most", "1015", "--output", str(tmp_path))
    verdicts = json.loads(cli(*words, "--json").output)["verdicts"]
    assert [(one["arm"], one["rival"]) for one in verdicts] == [
        ("fair", "plain"),
        ("small", "plain"),
        ("small", "fair"),
    ]
    rows = [json.loads(line) for line in (tmp_path / "judged.jsonl").read_text().splitlines()]
    assert {row["split"] for row in rows} == {"test"}
    assert all(row["left"] for row in rows)
    assert "small" in cli(*words).output


def test_a_policy_is_shown_with_its_plans(cli: Run) -> None:
    shown = cli("policy", "show", "size", COLUMNS="80").output
    assert "  passes\n" in shown
    listed = cli("policy", "show", "size", "--json").json
    assert "flag -momit-leaf-frame-pointer" in listed["decisions"]
    assert "loaded bytes" in listed["measured"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("show", "siz"), "did you mean size?"),
        (("train", "none.jsonl", "debian-sample-v0", "--output", "x.toml"), "training programs"),
        (("train", "none.jsonl", "c", "--output", "x.json"), "must end with .toml"),
    ],
)
def test_unusable_input_for_a_policy_is_an_error(
    cli: Run, words: tuple[str, ...], complaint: str
) -> None:
    ran = cli("policy", *words)
    assert ran.status == 2
    assert complaint in ran.errors
