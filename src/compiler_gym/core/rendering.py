# SPDX-License-Identifier: MIT
"""Shows programs: in colour, folded to the screen, or as the changes of the last action.

It is independent of the compiler: the `Listing` of an environment describes the syntax of its
text. The text is printed unchanged if the output is not a terminal.
"""

import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler_gym.errors import RenderModeError
from compiler_gym.spaces import action_name, action_names

if TYPE_CHECKING:
    from compiler_gym.core.env import CompilerEnv


RENDER_MODES = ("human", "ansi", "diff", "ansi_diff")
"""The modes of `CompilerEnv.render`."""
_TOP = 8
"""Number of lines that are shown of a long part outside functions."""
_SCREENS = 3
"""Number of screens that a folded text may fill."""
_NUMBER = re.compile(r"%\d+|(?:(?<=^)|(?<=\s))\d+(?=:)|![0-9]+|#[0-9]+", re.M)
"""The number of a value, a block or a table entry."""
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True)
class Listing:
    """The syntax of the text of a program.

    >>> llvm = Listing("llvm", ";", r"define .*@(\\S+)\\(", r"}")
    >>> re.match(llvm.begin, "define i32 @main() {")[1]
    'main'
    """

    language: str = "text"
    """The name of the language in Pygments."""
    comment: str = "#"
    """The beginning of a comment."""
    begin: str = r"(?!)"
    """The first line of a function, as a regular expression; its group is the name."""
    end: str = r"(?!)"
    """The last line of a function."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of a text: a function, or the lines between two functions."""

    name: str
    """The name of the function; empty outside functions."""
    lines: list[str]


def show(text: str, listing: Listing) -> None:
    """Print a program: in a terminal in colour and folded to the screen, otherwise unchanged."""
    if not sys.stdout.isatty():
        print(text)
        return
    from pygments.token import Error
    from rich.console import Console
    from rich.style import Style
    from rich.syntax import ANSI_DARK, ANSISyntaxTheme, Syntax

    # Keywords newer than the lexer must not look like errors.
    theme = ANSISyntaxTheme({**ANSI_DARK, Error: Style()})
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    shown = fold(text, listing, console.height)
    console.print(
        Syntax(shown, listing.language, theme=theme, background_color="default", word_wrap=True)
    )


def show_difference(text: str, listing: Listing) -> None:
    """Print the result of `last_change`: in colour and cut to a few screens in a terminal."""
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
        footer = f'{listing.comment} {len(lines) - most:,} more lines: render("ansi_diff")'
        console.print(Text(footer, style="dim"), soft_wrap=True)


def fold(text: str, listing: Listing, height: int) -> str:
    """Return `text` without the bodies of its functions if it has more than `height` lines.

    Text between functions is cut to a few lines, and functions beyond some screens are only
    counted. The last line explains how to see everything.
    """
    count = text.count("\n") + 1
    if count <= height:
        return text
    folded: list[str] = []
    parts = list(_parts(text, listing))
    for number, part in enumerate(parts):
        if len(folded) >= _SCREENS * height:
            remaining = sum(1 for later in parts[number:] if later.name)
            folded.append(f"{listing.comment} ... {remaining:,} more functions")
            break
        folded.extend(_fold(part, listing))
    folded.append(f'{listing.comment} {count:,} lines in all: render("ansi") returns them')
    return "\n".join(folded)


def require_mode(mode: str) -> None:
    """Raise `RenderModeError` unless `mode` is one of `RENDER_MODES`."""
    if mode not in RENDER_MODES:
        *modes, last = RENDER_MODES
        raise RenderModeError(f"render mode must be {', '.join(modes)} or {last} (got {mode!r})")


def last_change(now: "CompilerEnv", twin: "CompilerEnv") -> str:
    """Return what the last action of an episode changed: a summary in comments, then a diff.

    Args:
        now: The environment. Nothing is done in it.
        twin: Another environment with the same spaces, in which the actions are replayed.
    """
    text, actions, note = now.render("ansi") or "", now.actions, now.listing.comment
    uri = now.episode.require().benchmark
    if not actions:
        return f"{note} {uri}: no action yet"
    twin.reset(benchmark=now.episode.program, observation_space=None)
    if actions[:-1]:
        twin.multistep(actions[:-1])
    before, cost = twin.render("ansi") or "", _cost(twin)
    name = _action_text(twin.action_space, actions[-1])  # in the space of that step
    earned = twin.multistep(actions[-1:])[1]
    # The first line counts the actions: it is not part of the program.
    lines, added, removed = difference(
        before.partition("\n")[2], text.partition("\n")[2], now.listing
    )
    head = [f"{note} {uri}: action {len(actions):,}, {name}"]
    rewards = now.episode.selection.rewards.rewards
    values: list[Any] = earned if isinstance(earned, list) else [earned]  # pyright: ignore[reportUnknownVariableType]  # as a step gives it
    for space, value in zip(rewards, values, strict=bool(rewards)):
        again = "" if space.deterministic else ", measured again"
        head.append(f"{note} reward {value:.6g} ({space.name}{again})")
    after = _cost(now)
    if cost is not None and after is not None:
        head.append(f"{note} {rewards[0].observation_spaces[0]} {cost} before, {after} after")
    changed = f"{count_noun(added, 'line')} added, {count_noun(removed, 'line')} removed"
    head.append(f"{note} {changed}" if lines else f"{note} nothing changed")
    return "\n".join([*head, *lines])


def difference(before: str, after: str, listing: Listing) -> tuple[list[str], int, int]:
    """Return the lines of a unified diff by function, and how many were added and removed."""
    old = {part.name: part for part in _merge(_parts(before, listing))}
    new = {part.name: part for part in _merge(_parts(after, listing))}
    lines: list[str] = []
    for name in dict.fromkeys([*new, *old]):
        first, second = (side[name].lines if name in side else [] for side in (old, new))
        if first != second:
            title = name or "outside functions"
            changed = difflib.unified_diff(first, second, title, title, lineterm="")
            lines.extend(changed)
    added = sum(1 for line in lines if line[:1] == "+" and not line.startswith("+++ "))
    removed = sum(1 for line in lines if line[:1] == "-" and not line.startswith("--- "))
    return lines, added, removed


def comparable(text: str) -> str:
    """Return `text` without the numbers of values, blocks and table entries, line by line.

    >>> comparable("%5 = add i32 %4, 1")
    '% = add i32 %, 1'
    """
    return _NUMBER.sub("%", text)


def parts_by_function(text: str, listing: Listing) -> dict[str, str]:
    """Return the text of each function by its name; the text outside functions has an empty name.

    >>> listing = Listing(begin=r"def (\\w+)", end=r"end")
    >>> parts_by_function("x = 1\\ndef f\\nend\\ny = 2", listing)
    {'f': 'def f\\nend', '': 'x = 1\\ny = 2'}
    """
    return {part.name: "\n".join(part.lines) for part in _merge(_parts(text, listing))}


def count_noun(number: int, noun: str) -> str:
    """Return a number and a noun, with an s if it is not 1.

    >>> count_noun(1, "action"), count_noun(1200, "line")
    ('1 action', '1,200 lines')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _action_text(space: Any, action: Any) -> str:
    """Return the name of `action`, or its value in a space without names."""
    return action_name(space, action) if action_names(space) else str(action)


def _cost(env: "CompilerEnv") -> Any:
    """Return the cost that the reward space lowers, if it is one observation of a number."""
    space = env.reward_space
    if space is None or not space.deterministic or len(space.observation_spaces) != 1:
        return None
    value = env.observation[space.observation_spaces[0]]
    return value if isinstance(value, (int, float)) else None


def _parts(text: str, listing: Listing) -> Iterator[_Part]:
    begin, end = re.compile(listing.begin), re.compile(listing.end)
    part = _Part("", [])
    for line in text.split("\n"):
        if not part.name and (match := begin.match(line)):
            if part.lines:
                yield part
            part = _Part(match[1], [])
        part.lines.append(line)
        if part.name and end.match(line):
            yield part
            part = _Part("", [])
    if part.lines:
        yield part


def _merge(parts: Iterable[_Part]) -> Iterator[_Part]:
    """Yield every function, then everything outside functions as one part."""
    outside: list[str] = []
    for part in parts:
        if part.name:
            yield part
        else:
            outside.extend(part.lines)
    yield _Part("", outside)


def _fold(part: _Part, listing: Listing) -> Iterator[str]:
    if part.name and len(part.lines) > 3:
        yield part.lines[0]
        yield f"  {listing.comment} ... {count_noun(len(part.lines) - 2, 'line')}"
        yield part.lines[-1]
        return
    lines = part.lines if part.name else [line for line in part.lines if line.strip()]
    yield from lines[:_TOP]
    if len(lines) > _TOP:
        yield f"{listing.comment} ... {count_noun(len(lines) - _TOP, 'line')}"
