# SPDX-License-Identifier: MIT
"""Where output goes: results to standard output, everything else to standard error.

Text is printed unchanged: markup is off, so that a name in brackets stays. Colours are
set by styles.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from compiler_gym.cli._pipes import reader_left

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = [
    "Json",
    "errors",
    "heading",
    "output",
    "paged",
    "print_json",
    "show",
    "styled",
    "table",
    "to_plain",
]

_LEAST_WIDTH = 12
"""The least width of a column of prose."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


def output() -> "Console":
    """Return the console of standard output."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    console.on_broken_pipe = reader_left
    return console


@cache
def errors() -> "Console":
    """Return the console of standard error."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    console.on_broken_pipe = reader_left
    return console


@contextmanager
def paged() -> "Generator[Console]":
    """Yield a console for long output, which a terminal shows in the user's pager."""
    console = output()
    if not console.is_terminal or console.is_dumb_terminal or not sys.stdin.isatty():
        yield console
        return
    with console.capture() as printed:
        yield console
    text = printed.get()
    if text.count("\n") < console.height or not _page(text):
        sys.stdout.write(text)


def _page(text: str) -> bool:
    """Show `text` in the pager; return whether there is one."""
    command = os.environ.get("PAGER", "less")
    if command in ("", "cat") or shutil.which(command.split()[0]) is None:
        return False
    # As git does: colours are kept, and the text stays on the screen afterwards.
    environment = {"LESS": "FRX", **os.environ}
    subprocess.run(command, shell=True, input=text.encode(), env=environment, check=False)
    return True


def print_json(document: Any) -> None:
    """Print `document` on standard output."""
    sys.stdout.write(json.dumps(to_plain(document), indent=2) + "\n")


def to_plain(value: Any) -> Any:
    """Return `value` as plain JSON values; arrays become lists, bytes their length."""
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


def styled(text: str, style: str) -> "Text":
    """Return `text` in a colour or weight, for a cell or a line."""
    from rich.text import Text

    return Text(text, style=style)


def heading(name: str, rest: str = "") -> "Text":
    """Return a line that begins with `name` in bold."""
    return styled(name, "bold").append(rest, style="not bold")


def table(
    *columns: str, title: str | None = None, right: Sequence[str] = (), typed: Sequence[str] = ()
) -> "Table":
    """Return an empty table in the house style, for `show`.

    `right` names the columns of numbers, `typed` those of what a user types: they are
    shown in full on any screen, and what else there is makes room.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=None if title is None else Text(title), box=box.SIMPLE_HEAD,
        title_justify="left", title_style="bold", header_style="bold", pad_edge=False,
    )  # fmt: skip
    for column in columns:
        whole = column in typed or column in right
        made.add_column(
            Text(column), justify="right" if column in right else "left",
            no_wrap=column in typed, overflow="fold",
            min_width=None if whole else min(_LEAST_WIDTH, len(column)),
        )  # fmt: skip
    return made


def show(rows: "Table", console: "Console | None" = None) -> None:
    """Print a table, wider than the screen if what must be typed does not fit."""
    console = output() if console is None else console
    title, rows.title = rows.title, None
    if title is not None:
        console.print()
        console.print(title, style="bold", soft_wrap=True)
    screen = console.width
    console.width = max(screen, _least_width(rows))
    console.print(rows)
    console.width = screen


def _least_width(rows: "Table") -> int:
    """Return the width at which no column that must be whole is cut."""
    from rich.cells import cell_len

    width = 1
    for column in rows.columns:
        lines = [str(column.header), *(str(cell) for cell in column.cells)]
        longest = max(cell_len(line) for line in lines)
        is_whole = column.no_wrap or column.justify == "right"
        width += 3 + (longest if is_whole else min(longest, _LEAST_WIDTH))
    return width
