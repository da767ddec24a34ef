# SPDX-License-Identifier: MIT
"""What a tuning found, as it is printed."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.tools.tune import TuningSummary
from compiler_gym.tools.tune.commands.summary import show_summary
from tests.tools.tune.summaries import SUMMARY, with_binary


def printed(summary: TuningSummary, capsys: pytest.CaptureFixture[str]) -> str:
    show_summary(summary)
    return capsys.readouterr().out


def test_sizes_decisions_and_next_steps_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(SUMMARY, capsys)
    assert [line.split()[0] for line in text.splitlines() if "," in line and "%" in line]
    for shown in (
        "src/tool: bytes, stripped", "1,000", "20.4 % smaller", "11.4 % smaller",
        "Savings lost if one decision is removed: passes 60",
        "reverted option broken=true: a test fails with it",
        "Also linked by this build: src/other: use --binary NAME", "Not tested",
        "/home/me/tuned/bin/src/tool", "sh /home/me/tuned/reproduce.sh /home/me/tuned/work/tree",
    ):  # fmt: skip
        assert shown in text, shown
    assert "interrupted" not in text


def test_paths_with_a_blank_are_quoted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    summary = replace(SUMMARY, build=("sh", "-c", "cc *.c"), folder=str(tmp_path / "my out"))
    text = printed(summary, capsys)
    assert "'./my out/bin/src/tool'" in text


def test_only_a_command_that_was_tried_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(replace(SUMMARY, rebuild="make CC=ours"), capsys)
    assert "this build produces the same file:\n  make CC=ours\n" in text
    text = printed(SUMMARY, capsys)
    assert "sh /home/me/tuned/reproduce.sh /home/me/tuned/work/tree" in text
    assert "compiler-gym-cc" not in text


def test_nothing_better_and_an_early_end_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(replace(with_binary(is_better=False), is_interrupted=True), capsys)
    assert "found nothing smaller than clang -Oz -flto in 1,234 compilations" in text
    assert "interrupted: these are the results so far" in text
    tested = printed(replace(SUMMARY, check="make check", others=()), capsys)
    assert "Not tested" not in tested
    assert "Also linked" not in tested


def test_speed_is_printed_with_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    speed = {"speedup": 1.05, "low": 1.02, "high": 1.08}
    text = printed(replace(with_binary(speed=speed), goal="speed"), capsys)
    assert "1.050 times as fast as clang -Oz -flto (1.020 to 1.080)" in text
