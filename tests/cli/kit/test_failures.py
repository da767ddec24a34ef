# SPDX-License-Identifier: MIT
"""An error becomes a line, the next step and an exit status; a defect stays one."""

import subprocess
import sys

import gymnasium
import pytest

from compiler_gym.cli.kit.failures import INTERRUPTED, REFUSED, report_failure
from compiler_gym.cli.kit.output import errors
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerGymError,
    InvalidActionError,
    PipelineError,
    UnknownNameError,
)


@pytest.fixture(autouse=True)
def own_console() -> None:
    """Let standard error be the one of this test."""
    errors.cache_clear()


@pytest.mark.parametrize(
    ("error", "step"),
    [
        (BenchmarkInitError("no such file: a.c"), "a program is a URI"),
        (InvalidActionError("no action 'x'"), "--actions"),
        (UnknownNameError("no space 'x'"), "describe llvm-v0"),
        (PipelineError("unknown pass 'x'"), "--print-passes"),
    ],
)
def test_an_error_is_a_line_and_the_next_step(
    error: CompilerGymError, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_failure(error) == REFUSED
    shown = capsys.readouterr()
    assert shown.out == ""
    first, second = shown.err.splitlines()
    assert first == f"error: {error}"
    assert second.startswith("next step: ")
    assert step in second


@pytest.mark.parametrize(
    "error",
    [
        BenchmarkInitError("expected clang-22 on PATH: apt install clang-22"),
        UnknownNameError("no algorithm 'x'; there are beam, greedy"),
        UnknownNameError("no task 'a'; there are b"),
    ],
)
def test_no_general_hint_follows_an_error_that_gives_the_fix(
    error: CompilerGymError, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_failure(error) == REFUSED
    assert capsys.readouterr().err == f"error: {error}\n"


def test_a_long_error_is_cut_and_markup_in_it_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    report_failure(CompilerGymError("[bold]no[/]\n" + "\n".join(map(str, range(20)))))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "error: [bold]no[/]"
    assert lines[1:3] == ["  ... 5 lines", "  5"]
    assert lines[-1] == "  19"  # the last ones say why
    assert len(lines) == 17


def test_compiler_output_is_shown_from_its_first_error_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = [*(["a.c:1:1: warning: old"] * 20), "a.c:9:1: error: no", *(["note"] * 20)]
    report_failure(CompilerGymError("\n".join(["clang cannot compile a.c:", *said])))
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == ["error: clang cannot compile a.c:", "  ... 20 lines", "  " + said[20]]
    assert lines[-1] == "  ... 6 lines"


def test_a_command_that_reproduces_the_failure_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = CompilerGymError("it crashed")
    error.reproducer = "opt-22 -passes=gvn [a].bc"
    report_failure(error)
    assert "shown by: opt-22 -passes=gvn [a].bc" in capsys.readouterr().err


def test_an_error_without_words_reports_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_failure(CompilerGymError("")) == REFUSED
    assert "error: failed without a message" in capsys.readouterr().err


def test_an_unknown_environment_is_not_guessed_at(capsys: pytest.CaptureFixture[str]) -> None:
    error = gymnasium.error.NameNotFound("Environment `x` doesn't exist. Did you mean: `CartPole`?")
    assert report_failure(error) == REFUSED
    shown = capsys.readouterr().err
    assert "CartPole" not in shown
    assert "next step: `compiler-gym envs`" in shown


def test_an_interrupt_has_the_status_of_a_shell_and_a_defect_has_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert report_failure(KeyboardInterrupt()) == INTERRUPTED == 130
    assert capsys.readouterr().err == "\ninterrupted\n"
    assert report_failure(ZeroDivisionError("a defect")) is None
    assert capsys.readouterr().err == ""


def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "compiler_gym.cli", "envs"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == REFUSED
    assert done.stderr.splitlines() == [
        "error: cannot write the output: No space left on device",
        "next step: free some space and try again",
    ]
