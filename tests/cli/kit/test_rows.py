# SPDX-License-Identifier: MIT
"""Commands come from tables that entry points name, those of other packages too."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from compiler_gym.cli._commands import commands
from compiler_gym.cli.kit import rows
from compiler_gym.cli.kit.rows import GROUP, Row, tool_commands
from compiler_gym.errors import CompilerGymWarning
from tests.stand_ins import always


def greet(name: str) -> None:
    """Greet somebody."""
    typer.echo(f"hello {name}")


names = typer.Typer(name="names")


@names.command("one")
def one() -> None:
    """Name one."""


@names.command("two")
def two() -> None:
    """Name two."""


HERE = f"{__name__}:"
COMMANDS = {
    "greet": Row(f"{HERE}greet", "Greet somebody."),
    "names": Row(f"{HERE}names", "Name."),
    "names three": Row(f"{HERE}greet", "Greet somebody."),
}


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Offer entry points in place of the installed ones."""

    def offer(*values: str) -> None:
        entries = [EntryPoint(f"e{n}", value, GROUP) for n, value in enumerate(values)]
        monkeypatch.setattr(rows, "parts", always({entry.name: entry for entry in entries}))
        tool_commands.cache_clear()

    yield offer
    tool_commands.cache_clear()


def test_a_table_of_another_package_is_found_and_its_command_runs(offered: Any) -> None:
    offered(f"{__name__}:COMMANDS")
    assert list(tool_commands()) == ["greet", "names", "names three"]
    command = tool_commands()["greet"].load("greet")
    assert CliRunner().invoke(_app_of(command), ["you"]).output == "hello you\n"


def test_a_command_joins_the_group_that_its_name_begins_with(offered: Any) -> None:
    offered(f"{__name__}:COMMANDS")
    group = tool_commands()["names"].load("names")
    assert sorted(group.commands) == ["one", "three", "two"]


def test_a_table_that_cannot_be_loaded_is_left_out_with_a_warning(offered: Any) -> None:
    offered("no_such_package:COMMANDS", f"{__name__}:COMMANDS")
    with pytest.warns(
        CompilerGymWarning, match="skipping the commands of no_such_package:COMMANDS"
    ):
        assert "greet" in tool_commands()


def test_a_tool_replaces_no_command_of_the_kernel(
    offered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COMMANDS, "search", COMMANDS["greet"])
    offered(f"{__name__}:COMMANDS")
    commands.cache_clear()
    try:
        assert commands()["search"].path == "compiler_gym.cli.search:search"
        assert "greet" in commands()
    finally:
        commands.cache_clear()


def _app_of(command: Any) -> Any:
    app = typer.Typer()
    app.command()(command.callback)
    return app
