# SPDX-License-Identifier: MIT
"""The options of a tuning are declared once: Python, command line and resuming follow."""

import inspect
from pathlib import Path

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import list_options
from compiler_gym.tools.tune import Goal, Request
from compiler_gym.tools.tune.commands import tune as module


def test_every_field_with_a_help_is_an_option_of_the_command_line() -> None:
    command = inspect.signature(module.tune).parameters
    options = list_options(Request)
    for name, one in options.items():
        assert bool(one.help) == ((one.spelling.name or name) in command)
    assert {name for name, one in options.items() if not one.help} == {"build", "project"}


def test_a_tuning_without_a_bound_ends_after_a_while() -> None:
    assert Request().seconds_allowed == 600
    assert Request(compilations=3).seconds_allowed is None
    assert Request(compilations=3, seconds=2).seconds_allowed == 2


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [("seconds", "90", 90.0), ("seconds", "1.5m", 90.0), ("seconds", "2h", 7200.0),
     ("max_slowdown", "3%", 0.03), ("max_slowdown", "0.5", 0.5)],
)  # fmt: skip
def test_the_command_line_writes_some_as_people_do(name: str, text: str, value: float) -> None:
    read = list_options(Request)[name].spelling.read
    assert read is not None
    assert read(f"--{name}", text) == value


@pytest.mark.parametrize("name", ["seconds", "max_slowdown"])
def test_other_words_are_refused(name: str) -> None:
    read = list_options(Request)[name].spelling.read
    assert read is not None
    with pytest.raises(InvalidParameterError, match=f"--{name} must be .*soon"):
        read(f"--{name}", "soon")


def test_the_deciding_options_are_plain_values() -> None:
    request = Request(("make",), Path("/project"), goal=Goal.SPEED, seed=3)
    assert request.decides() == {
        "build": ["make"], "project": "/project", "goal": "speed", "seed": 3,
        "measure": "loaded", "old_loaders": False, "no_unwind_tables": False,
    }  # fmt: skip
