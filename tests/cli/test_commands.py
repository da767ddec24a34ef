# SPDX-License-Identifier: MIT
"""The program's help and version need neither a command nor Typer."""

import re

import pytest
from typer.testing import CliRunner

from compiler_gym.cli._app import app
from compiler_gym.cli._commands import commands, program_help
from compiler_gym.version import __version__
from tests.command_line import Run, run_and_list_modules

HEAVY = ("numpy", "gymnasium", "compiler_gym.core", "compiler_gym.search", "matplotlib", "typer")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_command_and_loads_nothing_heavy(option: str) -> None:
    shown, loaded = run_and_list_modules(option)
    for command in commands():
        assert re.search(rf"^  {command} ", shown, re.M)
    assert not loaded.intersection((*HEAVY, "importlib.metadata"))


def test_a_command_whose_words_need_no_conversion_does_not_load_pydantic() -> None:
    shown, loaded = run_and_list_modules("run", "cbench-v1/crc32", "--observe", "Inst", "no-such")
    assert "pydantic" not in loaded
    assert "compiler_gym.cli.run" in loaded
    assert not shown
    assert "pydantic" in run_and_list_modules("run", "--memory-gib", "4", "no-such/program")[1]


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_printed_without_the_list_of_commands(option: str) -> None:
    shown, loaded = run_and_list_modules(option)
    assert shown == f"compiler-gym {__version__}\n"
    assert not loaded.intersection((*HEAVY, "importlib.metadata"))


def test_no_command_prints_the_help(cli: Run) -> None:
    done = cli()
    assert done.status == 2
    assert done.output == program_help() + "\n"


def test_typer_prints_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    for arguments in ([], ["--help"]):
        assert CliRunner().invoke(app, arguments).output == program_help() + "\n"
    assert CliRunner().invoke(app, ["--version"]).output == f"compiler-gym {__version__}\n"


@pytest.mark.parametrize("width", [20, 40, 79, 200])
def test_the_help_is_as_wide_as_the_terminal_and_at_most_80_columns(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    longest = max(map(len, program_help().splitlines()))
    assert longest < max(width, 50)
    assert longest < 80


def test_options_are_those_of_typer() -> None:
    import typer

    group = typer.main.get_command(app)
    names = {name for parameter in group.params for name in (*parameter.opts, "--help", "-h")}
    assert names == set(re.findall(r"(?<= )--?[\w-]+(?=,|  )", program_help().split("C and")[0]))
