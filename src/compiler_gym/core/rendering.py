# SPDX-License-Identifier: MIT
"""Programs as people look at them: in colour, folded to a screen, or what an action changed.

It knows no compiler: an environment says by a `Listing` how its text is written. What is
no terminal gets the text as it is.
"""

import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = [
    "Listing",
    "counted",
    "difference",
    "fold",
    "parts_by_function",
    "show",
    "show_difference",
]

_TOP = 8
"""The lines that are left of a long part outside functions."""
_SCREENS = 3
"""The screens that a folded text may fill."""
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True)
class Listing:
    """How the text of a program is written.

    >>> llvm = Listing("llvm", ";", r"define .*@(\\S+)\\(", r"}")
    >>> re.match(llvm.begin, "define i32 @main() {")[1]
    'main'
    """

    language: str = "text"
    """What Pygments calls it."""
    comment: str = "#"
    """What a comment begins with."""
    begin: str = r"(?!)"
    """The first line of a function, as a regular expression; its group is the name."""
    end: str = r"(?!)"
    """The last line of a function."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of a text: a function, or what stands between two."""

    name: str
    """The function's; empty outside functions."""
    lines: list[str]


def show(text: str, listing: Listing) -> None:
    """Print a program: coloured and folded to the screen in a terminal, whole elsewhere."""
    if not sys.stdout.isatty():
        print(text)
        return
    from pygments.token import Error
    from rich.console import Console
    from rich.style import Style
    from rich.syntax import ANSI_DARK, ANSISyntaxTheme, Syntax

    # A word that is newer than the lexer is no error of the program.
    theme = ANSISyntaxTheme({**ANSI_DARK, Error: Style()})
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    shown = fold(text, listing, console.height)
    console.print(
        Syntax(shown, listing.language, theme=theme, background_color="default", word_wrap=True)
    )


def show_difference(text: str, listing: Listing) -> None:
    """Print what `difference` returned: coloured and cut to some screens in a terminal."""
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    lines = text.split("\n")
    most = _SCREENS * console.height
    for line in lines[:most]:
        console.print(Text(line, style=_COLOURS.get(line[:1], "")), soft_wrap=True)
    if len(lines) > most:
        rest = f'{listing.comment} {len(lines) - most:,} more lines: render("ansi_diff")'
        console.print(Text(rest, style="dim"), soft_wrap=True)


def fold(text: str, listing: Listing, height: int) -> str:
    """Return `text` with the bodies of its functions left out if it has more than `height` lines.

    What stands between functions is cut to a few lines, and functions beyond some screens
    are counted. The last line says how to see it all.
    """
    count = text.count("\n") + 1
    if count <= height:
        return text
    folded: list[str] = []
    parts = list(_parts(text, listing))
    for number, part in enumerate(parts):
        if len(folded) >= _SCREENS * height:
            rest = sum(1 for later in parts[number:] if later.name)
            folded.append(f"{listing.comment} ... {rest:,} more functions")
            break
        folded.extend(_folded(part, listing))
    folded.append(f'{listing.comment} {count:,} lines in all: render("ansi") returns them')
    return "\n".join(folded)


def difference(before: str, after: str, listing: Listing) -> tuple[list[str], int, int]:
    """Return the lines of a unified diff, function by function, and how many come and go."""
    old = {part.name: part for part in _merged(_parts(before, listing))}
    new = {part.name: part for part in _merged(_parts(after, listing))}
    lines: list[str] = []
    for name in dict.fromkeys([*new, *old]):
        one, other = (side[name].lines if name in side else [] for side in (old, new))
        if one != other:
            title = name or "outside functions"
            changed = difflib.unified_diff(one, other, title, title, lineterm="")
            lines.extend(changed)
    added = sum(1 for line in lines if line[:1] == "+" and not line.startswith("+++ "))
    removed = sum(1 for line in lines if line[:1] == "-" and not line.startswith("--- "))
    return lines, added, removed


def parts_by_function(text: str, listing: Listing) -> dict[str, str]:
    """Return the text of each function by its name, and what stands outside under an empty one.

    >>> listing = Listing(begin=r"def (\\w+)", end=r"end")
    >>> parts_by_function("x = 1\\ndef f\\nend\\ny = 2", listing)
    {'f': 'def f\\nend', '': 'x = 1\\ny = 2'}
    """
    return {part.name: "\n".join(part.lines) for part in _merged(_parts(text, listing))}


def counted(number: int, what: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "action"), counted(1200, "line")
    ('1 action', '1,200 lines')
    """
    return f"{number:,} {what}{'s' * (number != 1)}"


def _parts(text: str, listing: Listing) -> Iterator[_Part]:
    begin, end = re.compile(listing.begin), re.compile(listing.end)
    part = _Part("", [])
    for line in text.split("\n"):
        if not part.name and (found := begin.match(line)):
            if part.lines:
                yield part
            part = _Part(found[1], [])
        part.lines.append(line)
        if part.name and end.match(line):
            yield part
            part = _Part("", [])
    if part.lines:
        yield part


def _merged(parts: Iterable[_Part]) -> Iterator[_Part]:
    """Yield every function, and then all that stands outside them as one."""
    outside: list[str] = []
    for part in parts:
        if part.name:
            yield part
        else:
            outside.extend(part.lines)
    yield _Part("", outside)


def _folded(part: _Part, listing: Listing) -> Iterator[str]:
    if part.name and len(part.lines) > 3:
        yield part.lines[0]
        yield f"  {listing.comment} ... {counted(len(part.lines) - 2, 'line')}"
        yield part.lines[-1]
        return
    kept = part.lines if part.name else [line for line in part.lines if line.strip()]
    yield from kept[:_TOP]
    if len(kept) > _TOP:
        yield f"{listing.comment} ... {counted(len(kept) - _TOP, 'line')}"
