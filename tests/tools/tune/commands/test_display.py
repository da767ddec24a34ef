# SPDX-License-Identifier: MIT
"""A running tuning on a terminal, and where there is none."""

import io
import math

import pytest
from rich.console import Console

from compiler_gym.cli.kit.interrupts import Interrupts
from compiler_gym.tools.tune import Allowance, Goal, Tried
from compiler_gym.tools.tune.commands.display import TuningDisplay

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
        "tool: known: nothing measured yet, 0 tried, 1:30 left",
        "tool: options: best 950 bytes (-5.0%), 12 tried, 1:30 left",
    ]


def test_a_quiet_one_prints_nothing() -> None:
    assert shown(terminal=False, quiet=True)[0] == ""
    assert shown(terminal=True, quiet=True)[0] == ""


def test_seconds_are_shown_for_speed() -> None:
    text, _ = shown(terminal=False, goal=Goal.SPEED)
    assert "options: best 950 s, 12 tried" in text


def test_an_interrupt_ends_what_can_hand_over_nothing_yet() -> None:
    interrupts = Interrupts()
    display = TuningDisplay(Console(file=io.StringIO()), interrupts, goal=Goal.SIZE)
    interrupts.requested = True
    for begin in (lambda: display.says("building it"), lambda: display.builds("cc")):
        with pytest.raises(KeyboardInterrupt):
            begin()
    display.rivals("tool", RIVALS)
    display.says("testing the tuned tool")  # its result is to be handed over
