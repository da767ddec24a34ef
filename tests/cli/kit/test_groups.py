# SPDX-License-Identifier: MIT
"""A command that is missing with its package is an error that names the package."""

import pytest
import typer
from typer.testing import CliRunner

from compiler_gym.cli.kit import groups
from compiler_gym.cli.kit.groups import CommandGroup


@pytest.mark.parametrize("missing", [{}, {"hunt": "compiler_gym_hunt"}])
def test_an_unknown_command_may_be_in_a_missing_package(
    missing: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "missing_parts", {"commands": missing}.__getitem__)
    app = typer.Typer(cls=CommandGroup)
    app.command("one")(lambda: None)
    app.command("two")(lambda: None)
    done = CliRunner().invoke(app, ["three"])
    assert done.exit_code == 2
    assert "No such command" in done.output
    assert ("may be in compiler_gym_hunt" in " ".join(done.output.split())) == bool(missing)
