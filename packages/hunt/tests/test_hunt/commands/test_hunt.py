# SPDX-License-Identifier: MIT
"""The command: a time that reads, a hunt that prints what survived, and typed refusals."""

from pathlib import Path

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import seconds_in
from tests.command_line import Run

SCAN = (
    "int f(const char *s) { for (; *s; s++) if (*s == '%' && s[1] == 'd') return 1; return 0; }\n"
)


def test_a_hunt_prints_what_survived_and_writes_a_report(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "scan.c").write_text(SCAN)
    (tmp_path / "one" / "broken.c").write_text("int f(void) { return nothing; }\n")
    command = ("hunt", "one", "--goal", "instructions", "--time", "5s", "--output", "found")
    ran = cli(*command, "--json")
    figures = ran.json["figures"]
    assert (figures["programs"], figures["programs_unreadable"], figures["examined"]) == (2, 1, 1)
    assert "examining 1 of 2" in ran.errors
    assert (tmp_path / "found" / "report.html").is_file()
    shown = cli(*command)
    assert shown.status == 0
    assert "1 different functions of 2 of 2 programs examined" in shown.output


def test_an_impossible_hunt_is_refused(cli: Run) -> None:
    assert "a number of seconds, or a time such as" in cli("hunt", "one", "--time", "soon").errors
    assert "no such file" in cli("hunt", "./nothing").errors
    assert "no compiler 'mlir'" in cli("hunt", ".", "--compiler", "mlir").errors


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("30m", 1800), ("2h", 7200), ("1.5s", 1.5)]
)
def test_a_time_is_a_number_with_its_unit(text: str, seconds: float) -> None:
    assert seconds_in("--time", text) == seconds


@pytest.mark.parametrize("text", ["", "0m", "m", "-5s", "1 h", "1d"])
def test_another_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameterError, match="must be a number of seconds"):
        seconds_in("--time", text)


def test_a_hunt_without_a_compiler_is_refused_before_it_begins(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "scan.c").write_text(SCAN)
    for options in ((), ("--versions",)):
        ran = cli("hunt", "one", "--time", "5s", *options, PATH=str(tmp_path))
        assert ran.status == 2
        assert "apt install clang-22" in ran.errors
        assert "examining" not in ran.errors + ran.output
        assert not (tmp_path / "hunt-results").exists()


def test_a_hunt_that_can_read_no_program_fails_and_can_be_repeated(
    cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "scan.c").write_text("int f(void) { return nothing; }\n")
    for options in ((), ("--versions",)):
        command = ("hunt", "one", "--time", "5s", "--output", f"found{len(options)}", *options)
        ran = cli(*command)
        assert ran.status == 2
        assert "scan.c" in ran.errors
        (tmp_path / "one" / "scan.c").write_text(SCAN)
        assert cli(*command).status == 0
        (tmp_path / "one" / "scan.c").write_text("int f(void) { return nothing; }\n")
