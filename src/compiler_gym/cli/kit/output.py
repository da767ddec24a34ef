# SPDX-License-Identifier: MIT
"""Output: results go to standard output, everything else to standard error.

Text is printed unchanged: markup is off, so that text in brackets is not lost. Colours come from
styles.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from compiler_gym.cli.kit.interrupts import reader_left

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

__all__ = [
    "Json",
    "command_lines",
    "errors",
    "fold_text",
    "heading",
    "open_pager",
    "output",
    "print_command",
    "print_json",
    "show",
    "style_text",
    "table",
    "to_plain",
]

_LEAST_WIDTH = 12
"""The least width of a column of prose."""
_LEAST_NAME = 18
"""The least width of a column of names; shorter ones always fit on a line."""
_PADDING = 3
_BREAKS = ";,/ "
_GOES_ON = " \\"
"""The end of a line that a shell joins with the next one."""
_WORD = re.compile(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""")

Json = Annotated[bool, typer.Option("--json", help="Print only JSON.")]


def output() -> "Console":
    """Return the console of standard output."""
    return _console(stderr=False)


@cache
def errors() -> "Console":
    """Return the console of standard error."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> "Console":
    """Return a console that wraps lines between words on a terminal only."""
    from rich.console import Console

    class Screen(Console):
        def print(self, *objects: Any, soft_wrap: bool | None = None, **settings: Any) -> None:
            is_whole = bool(soft_wrap) and not self.is_terminal
            super().print(*objects, soft_wrap=is_whole, **settings)

    console = Screen(stderr=stderr, highlight=False, markup=False, emoji=False)
    console.on_broken_pipe = reader_left
    return console


@contextmanager
def open_pager() -> "Generator[Console]":
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
    """Show `text` in the pager; return False if there is none."""
    command = os.environ.get("PAGER", "less")
    if command in ("", "cat") or shutil.which(command.split()[0]) is None:
        return False
    # Like git: the text stays on the screen afterwards. Without -R, less prints escape codes.
    environment = {**os.environ, "LESS": f"{os.environ.get('LESS', '-FX')} -R"}
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


def style_text(text: str, style: str) -> "Text":
    """Return `text` in a colour or weight, for a cell or a line."""
    from rich.text import Text

    return Text(text, style=style)


def heading(name: str, rest: str = "") -> "Text":
    """Return a line that begins with `name` in bold."""
    return style_text(name, "bold").append(rest, style="not bold")


def table(
    *columns: str, title: str | None = None, right: Sequence[str] = (), typed: Sequence[str] = ()
) -> "Table":
    """Return an empty table in the house style, for `show`.

    `right` names the columns of numbers, `typed` those with values that a user types: they are
    always shown in full, and other columns get the remaining space.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    result = Table(
        title=None if title is None else Text(title),
        box=box.SIMPLE_HEAD,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        pad_edge=False,
    )
    for column in columns:
        never_folds = column in typed or column in right
        result.add_column(
            Text(column),
            justify="right" if column in right else "left",
            no_wrap=column in typed,
            overflow="fold",
            min_width=None if never_folds else min(_LEAST_WIDTH, len(column)),
        )
    return result


def show(rows: "Table", console: "Console | None" = None) -> None:
    """Print a table; on a terminal, long names are folded over several lines and never cut."""
    console = output() if console is None else console
    title, rows.title = rows.title, None
    if title is not None:
        console.print()
        console.print(title, style="bold", soft_wrap=True)
    screen = console.width
    if console.is_terminal:
        _fold_numbers(rows, screen)
        _fold_names(rows, screen)
    else:  # the output may be read by a program: do not fold it
        console.width = max(screen, sum(_least_widths(rows)))
    console.print(rows)
    console.width = screen


def print_command(
    command: str, console: "Console | None" = None, *, indent: str = "  ", style: str = ""
) -> None:
    """Print a command on lines that fit the terminal and that a shell reads as one."""
    console = output() if console is None else console
    width = console.width if console.is_terminal else len(indent + command)
    for line in command_lines(command, width, indent=indent):
        console.print(line, no_wrap=True, overflow="ignore", crop=False, style=style)


def command_lines(command: str, width: int, *, indent: str = "") -> list[str]:
    """Return lines of at most `width` that a shell reads as `command`.

    Lines end between words. A quoted word that is too long for a line is quoted in parts, and
    the line after such a break begins in the first column.

    >>> command_lines("run a.c sroa gvn", 13)
    ['run a.c \\\\', '  sroa gvn']
    """
    import shlex

    if len(indent + command) <= width or "\n" in command:
        return [f"{indent}{command}"]
    lines, line, deeper = list[str](), indent, f"{indent}  "
    for word in _WORD.findall(command):
        blank = " " if line.strip() else ""
        if len(line + blank + word) + len(_GOES_ON) <= width:
            line += blank + word
            continue
        if line.strip():
            lines.append(line + _GOES_ON)
        line = deeper
        if len(line + word) + len(_GOES_ON) <= width or "$" in word:
            line += word
            continue
        parts = fold_text("".join(shlex.split(word)), width - len(line) - len("''\\"))
        lines += [f"{deeper if i == 0 else ''}{shlex.quote(p)}\\" for i, p in enumerate(parts[:-1])]
        line = shlex.quote(parts[-1])
    return [*lines, line]


def fold_text(text: str, width: int) -> list[str]:
    """Return `text` in parts of at most `width`, which end after punctuation if possible.

    >>> fold_text("simplifycfg<forward-switch-cond;sink-common-insts>", 34)
    ['simplifycfg<forward-switch-cond;', 'sink-common-insts>']
    """
    parts: list[str] = []
    while len(text) > width:
        head = text[:width]
        end = max(head.rfind(mark) for mark in _BREAKS) + 1
        end = end if end > width // 3 else width
        parts.append(text[:end])
        text = text[end:]
    return [*parts, text]


def _fold_numbers(rows: "Table", width: int) -> None:
    """Wrap the cells of number columns between words, if the table is too wide."""
    from textwrap import wrap

    if sum(_least_widths(rows)) <= width:
        return
    for column in rows.columns:
        if column.justify != "right":
            continue
        texts = [str(column.header), *(str(cell) for cell in column.cells)]
        longest = max(len(word) for text in texts for word in (text.split() or [""]))
        column.no_wrap = True
        broken = partial(wrap, width=longest)
        column.header, *_ = _in_lines([column.header], broken)
        column._cells = list(  # pyright: ignore[reportPrivateUsage]  # rich has no public setter
            _in_lines(column.cells, broken)
        )


def _fold_names(rows: "Table", width: int) -> None:
    """Fold the cells of names that are too wide for half of the screen."""
    least = _least_widths(rows)
    for column, needed in zip(rows.columns, least, strict=True):
        room = width - (sum(least) - needed) - _PADDING
        if not column.no_wrap or column.justify == "right" or needed - _PADDING <= room:
            continue
        most = max(min(room, width // 2), _LEAST_NAME)
        column._cells = list(  # pyright: ignore[reportPrivateUsage]  # rich has no public setter
            _in_lines(column.cells, lambda text, most=most: fold_text(text, most))
        )


def _in_lines(cells: Iterable[Any], broken: Callable[[str], list[str]]) -> "Iterator[Text]":
    """Yield cells with their texts in lines, and with their styles."""
    from rich.text import Text

    for cell in cells:
        text = cell if isinstance(cell, Text) else Text(str(cell))
        yield Text("\n".join(broken(text.plain)), style=text.style)


def _least_widths(rows: "Table") -> list[int]:
    """Return the least width of each column at which no unbreakable text is cut."""
    from rich.cells import cell_len

    widths: list[int] = []
    for column in rows.columns:
        texts = [str(column.header), *(str(cell) for cell in column.cells)]
        longest = max(cell_len(line) for text in texts for line in (text.splitlines() or [""]))
        is_whole = column.no_wrap or column.justify == "right"
        widths.append(_PADDING + (longest if is_whole else min(longest, _LEAST_WIDTH)))
    return widths
