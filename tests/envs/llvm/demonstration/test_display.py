# SPDX-License-Identifier: MIT
"""The display notes what was found, says so now and then, and passes an interrupt on."""

import io
import re

import pytest
from rich.console import Console

from compiler_gym.envs.llvm.demonstration.display import Display
from compiler_gym.search import Improvement, Progress

from .rows import row


class Asked:
    """Ctrl-C as a request that was made, or not."""

    requested = False

    def check(self) -> None:
        if self.requested:
            raise KeyboardInterrupt


def improvement(reward: float, program: int = 0) -> Improvement:
    return Improvement(program, "benchmark://cbench-v1/crc32", 1.5, 3, 2, reward, (0,))


PROGRESS = Progress("benchmark://cbench-v1/crc32", 1.0, 1, 2, 1234, 0, "searching")


def display(rows: list, *, is_terminal: bool = False) -> tuple[Display, io.StringIO, Asked]:  # type: ignore[type-arg]
    text, asked = io.StringIO(), Asked()
    console = Console(file=text, force_terminal=is_terminal, width=120)
    return Display(console, rows, seconds=60, jobs=2, interrupts=asked), text, asked


def test_the_best_count_and_the_whole_course_are_noted() -> None:
    one, other = row(), row(name="sha")
    shown, _, _ = display([one, other])
    for reward in (110.0, 90.0):
        shown.improved(improvement(reward))
    assert one.found == 70
    assert one.history == [(1.5, 70), (1.5, 90)]
    assert (other.found, other.history) == (80, [])


def test_a_line_is_printed_every_ten_seconds() -> None:
    shown, text, _ = display([row()])
    with shown:
        for seconds in (0.0, 3.0, 9.9, 10.1, 15.0, 21.0):
            shown.tick(seconds, [PROGRESS])
    lines = text.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["60", "50", "39"]
    assert "1,234 sequences" in lines[0]
    assert "/s on 2 cores   20.0% below -Oz" in lines[0]


def test_a_terminal_is_shown_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown, text, _ = display([row()], is_terminal=True)
    with shown:
        shown.tick(1.0, [PROGRESS])
    for words in ("crc32", "Best so far", "20.0%", "searching", "Ctrl-C stops"):
        assert words in text.getvalue()


def test_an_interrupt_is_passed_on() -> None:
    shown, _, asked = display([row()])
    asked.requested = True
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        shown.tick(1.0, [PROGRESS])


def test_progress_fits_80_columns() -> None:
    text = io.StringIO()
    many = Progress("benchmark://cbench-v1/stringsearch", 1.0, 1, 2, 1_234_567, 0, "searching")
    rows = [row(name="stringsearch", oz=12_846, found=11_799) for _ in range(8)]
    console = Console(file=text, force_terminal=True, width=80)
    shown = Display(console, rows, seconds=3600, jobs=128, interrupts=Asked())
    status = shown._status(0.1, [many] * 8)
    assert len(status) <= 80, status
    console.print(shown._picture(1.0, [many] * 8))
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text.getvalue())
    assert max(map(len, plain.splitlines())) <= 80
    assert "…" not in plain
    assert plain.count(" searching") == 8, plain
    assert "\nCtrl-C stops the search and shows what was found." in plain
    assert all(line.count("1,234,567") <= 1 for line in plain.splitlines())
