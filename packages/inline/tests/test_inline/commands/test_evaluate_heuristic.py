# SPDX-License-Identifier: MIT
"""``compiler-gym evaluate-heuristic`` as a shell sees it."""

import shutil
from pathlib import Path

import pytest

from compiler_gym.tools.learn.leaderboard import read_submission
from tests.command_line import Run

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

PROGRAMS = Path(__file__).parents[5] / "programs"
CRC32, SHA = "benchmark://cbench-v1/crc32", "benchmark://cbench-v1/sha"


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    path = tmp_path / "rule.c"
    path.write_text(
        '#include "inline_call.h"\n'
        "int should_inline(const struct inline_call* call) { return ANSWER; }\n"
    )
    return path


def test_a_heuristic_is_judged_and_becomes_an_entry(cli: Run, rule: Path, tmp_path: Path) -> None:
    folder = tmp_path / "entry"
    words = ["--corpus", CRC32, "--corpus", SHA, "--define", "ANSWER=call->inlining_default"]
    ran = cli("evaluate-heuristic", str(rule), *words, "--output", str(folder))
    assert ran.status == 0, ran.errors
    assert "smaller: 0, equal: 2, larger: 0" in ran.output
    assert "of 69 decisions as the compiler's own" in ran.output
    entry = read_submission(folder)
    assert entry.task.name == "llvm-inline-heuristic"
    assert [outcome.state.reward for outcome in entry.outcomes] == [1.0, 1.0]


def test_a_folder_is_a_corpus(cli: Run, rule: Path, tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    for name in ("crc32", "sha", "qsort"):
        shutil.copyfile(PROGRAMS / name / f"{name}.bc", tmp_path / "corpus" / f"{name}.bc")
    words = ["--corpus", str(tmp_path / "corpus"), "--most", "2", "--define", "ANSWER=0", "--json"]
    told = cli("evaluate-heuristic", str(rule), *words).json
    assert [Path(one["benchmark"]).name for one in told["outcomes"]] == ["crc32.bc", "qsort.bc"]
    assert told["asked"] > told["agreed"] > 0


def test_some_programs_of_a_dataset_are_spread_over_it(cli: Run, rule: Path) -> None:
    words = ["--corpus", "cbench-v1", "--most", "2", "--define", "ANSWER=0", "--json"]
    told = cli("evaluate-heuristic", str(rule), *words).json
    found = [one["benchmark"] for one in told["outcomes"]]
    assert found == ["benchmark://cbench-v1/adpcm", "benchmark://cbench-v1/lame"]


def test_a_heuristic_that_fails_is_reported_and_fails_the_command(cli: Run, rule: Path) -> None:
    ran = cli("evaluate-heuristic", str(rule), "--corpus", CRC32, "--define", "ANSWER=2")
    assert ran.status == 1
    assert "PolicyAnswerError: the policy answered 2" in ran.errors


def test_an_impossible_evaluation_is_refused(cli: Run, rule: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for words, expected in (
        (["--define", "1=2"], "needs NAME=VALUE"),
        (["--most", "0"], "--most must be at least 1 (got 0)"),
        (["--corpus", str(tmp_path / "empty")], "there is no program in"),
    ):
        ran = cli("evaluate-heuristic", str(rule), *words)
        assert ran.status == 2
        assert expected in ran.errors
