# SPDX-License-Identifier: MIT
"""Where output goes: results to standard output, everything else to standard error."""

import json
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["Json", "errors", "output", "print_json", "table", "to_plain"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


def output() -> "Console":
    """Return the console of standard output."""
    from rich.console import Console

    return Console(highlight=False)


@cache
def errors() -> "Console":
    """Return the console of standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def print_json(document: Any) -> None:
    """Print `document` on standard output."""
    sys.stdout.write(json.dumps(to_plain(document), indent=2) + "\n")


def to_plain(value: Any) -> Any:
    """Return `value` as what JSON can say; arrays become lists, bytes their length."""
    if isinstance(value, dict):
        rows = cast("dict[Any, Any]", value)
        return {str(key): to_plain(item) for key, item in rows.items()}
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return [to_plain(item) for item in items]
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    tolist = getattr(value, "tolist", None)
    if tolist is not None:
        return tolist()
    return f"{len(value)} bytes" if isinstance(value, bytes) else str(value)


def table(*columns: str, title: str | None = None, right: tuple[str, ...] = ()) -> "Table":
    """Return an empty table in the house style; `right` names the columns of numbers."""
    from rich import box
    from rich.table import Table

    made = Table(
        title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold",
        header_style="bold", pad_edge=False,
    )  # fmt: skip
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left")
    return made
