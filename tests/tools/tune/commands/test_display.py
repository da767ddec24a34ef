# SPDX-License-Identifier: MIT
"""A running tuning on a terminal, and where there is none."""

import io
import math
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from compiler_gym.cli.kit.interrupts import Interrupts
from compiler_gym.tools.tune import Allowance, Goal, Tried, TuningSummary
from compiler_gym.tools.tune.commands.display import TuningDisplay, show_summary
from tests.tools.tune.summaries import SUMMARY, with_binary

RIVALS = {"clang -Oz": 1100, "fair": 1000}


def shown(*, terminal: bool, goal: Goal = Goal.SIZE, quiet: bool = False) -> tuple[str, Interrupts]:
    file, interrupts = io.StringIO(), Interrupts()
    console = Console(file=file, force_terminal=terminal, width=120, markup=False)
    allowance = Allowance(seconds=90.0, compilations=50)
    with TuningDisplay(console, interrupts, goal=goal, is_quiet=quiet) as display:
        display.says("building it")
        display.builds("cc -c main.c")
        display.says("tuning tool")
        display.rivals("tool", RIVALS)
        display.tries("tool", "known", Tried((), math.inf), allowance)
        allowance.take([()] * 12)
        display.tries("tool", "options", Tried(("a",), 950.0), allowance)
        display.tries("tool", "options", Tried(("a",), 940.0), allowance)
        display.says("testing the tuned tool")
    return file.getvalue(), interrupts


def test_a_terminal_shows_a_table_with_the_best_and_the_remaining_time() -> None:
    text, _ = shown(terminal=True)
    for part in ("tool", "options", "1,000", "940", "-6.0%", "12", "1:30", "Ctrl-C ends"):
        assert part in text, part


def test_elsewhere_there_is_a_line_for_each_stage() -> None:
    text, _ = shown(terminal=False)
    assert text.splitlines() == [
        "building it",
        "tuning tool",
        "tool: bytes to beat (loaded)",
        "        1,100  clang -Oz",
        "        1,000  fair",
        "tool: known: best so far 1,000 bytes (+0.0%), 0 tried, 1:30 left",
        "tool: options: best so far 950 bytes (-5.0%), 12 tried, 1:30 left",
        "testing the tuned tool (best so far 940 bytes (-6.0%))",
    ]


def test_a_quiet_one_prints_nothing() -> None:
    assert shown(terminal=False, quiet=True)[0] == ""
    assert shown(terminal=True, quiet=True)[0] == ""


def test_seconds_are_shown_for_speed() -> None:
    text, _ = shown(terminal=False, goal=Goal.SPEED)
    assert "options: best so far 950 s, 12 tried" in text


def test_an_interrupt_ends_what_can_hand_over_nothing_yet() -> None:
    interrupts = Interrupts()
    display = TuningDisplay(Console(file=io.StringIO()), interrupts, goal=Goal.SIZE)
    interrupts.requested = True
    for begin in (lambda: display.says("building it"), lambda: display.builds("cc")):
        with pytest.raises(KeyboardInterrupt):
            begin()
    display.rivals("tool", RIVALS)
    display.says("testing the tuned tool")  # its result is to be handed over


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
