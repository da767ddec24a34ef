# SPDX-License-Identifier: MIT
"""Groups of commands: a command of a missing package is an error that names the package."""

from typing import Any

from typer.core import TyperGroup

from compiler_gym.lazy import missing_parts
from compiler_gym.version import REINSTALL

__all__ = ["CommandGroup"]


class CommandGroup(TyperGroup):
    """A group of commands whose help shows the complete first sentence of each command."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the help of each command."""
        with formatter.section("Commands"):
            sentences = ((name, command.help or "") for name, command in self.commands.items())
            formatter.write_dl(
                [(name, " ".join(text.partition("\n\n")[0].split())) for name, text in sentences]
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; for an unknown one, name the packages that are missing."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            packages = " or ".join(missing_parts("commands").values())
            if packages and hasattr(error, "message"):
                error.message += f" It may be in {packages}: {REINSTALL}"  # type: ignore[attr-defined]
            raise
