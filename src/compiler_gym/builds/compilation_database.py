# SPDX-License-Identifier: MIT
"""Reads ``compile_commands.json``, the compile commands of a project.

A recorded command line is untrusted input, which is split into arguments like a shell does.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from compiler_gym.builds.command_line import CompilerCommand
from compiler_gym.errors import BenchmarkInitError, InvalidActionError, program_unreadable
from compiler_gym.files import read_regular

_FILE_NAME = re.compile(r"-|[\w./][\w./+@%=,:-]*")
_MOST_QUOTED_TEXT = 200
_PIECE = re.compile(
    r"""([ \t\r\n]+)|([^ \t\r\n'"\\]+)|'([^']*)'|"((?:[^"\\]++|\\.)*+)"|\\(.)""", re.DOTALL
)
"""Blanks, or a piece of a word: plain, in single or double quotes, or one escaped character."""
_ESCAPED = re.compile(r'\\(["\\])')


def split_command(text: str) -> list[str]:
    """Return the arguments of a command line, as a shell splits them.

    Raises `InvalidActionError` for a value that is not text, for an unclosed quote, and for
    line breaks and other control characters, which would begin another command.

        >>> split_command("opt -passes='sroa,dce' input.bc")
        ['opt', '-passes=sroa,dce', 'input.bc']
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
        raise InvalidActionError(f"expected a command line, got {text!r:.200}")
    if not text.isprintable():
        raise InvalidActionError(
            f"{text[:_MOST_QUOTED_TEXT]!r} is not a single command: remove line breaks and "
            "control characters"
        )
    try:
        return split_words(text)
    except ValueError as error:
        raise InvalidActionError(
            f"{text[:_MOST_QUOTED_TEXT]!r} is cut short ({error}): use the complete command line"
        ) from error


def split_words(text: str) -> list[str]:
    """Return the result of `shlex.split`, in time linear in the length of the arguments.

    Raises `ValueError` for an unclosed quote or a backslash at the end.

    >>> split_words("clang 'a b'c ''")
    ['clang', 'a bc', '']
    """
    words: list[str] = []
    pieces: list[str] | None = None  # None between arguments: an empty one has a piece
    at = 0
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None:
            raise ValueError("no escaped character" if text[at] == "\\" else "no closing quotation")
        at, kind, piece = match.end(), match.lastindex, match[match.lastindex or 0]
        if kind == 1:
            words += [] if pieces is None else ["".join(pieces)]
            pieces = None
        else:
            pieces = pieces or []
            pieces.append(_ESCAPED.sub(r"\1", piece) if kind == 4 else piece)
    return words if pieces is None else [*words, "".join(pieces)]


def is_file_name(word: str) -> bool:
    """Return whether `word` is a file name, or ``-``, without characters special to a shell.

    >>> [is_file_name(word) for word in ("input.bc", "output.bc;", "&&", "$(id)", "-")]
    [True, False, False, False, True]
    """
    return _FILE_NAME.fullmatch(word) is not None


_TARGET = re.compile(r"(?:^|/)CMakeFiles/([^/]+)\.dir/")


def read_database(
    path: Path, failed: list[tuple[str, str]] | None = None
) -> Iterator[tuple[str, str, CompilerCommand]]:
    """Yield the name, the target and the command of each entry.

    CMake's objects have their target in their path (``CMakeFiles/NAME.dir``); all others belong
    to ``all``. Raises `BenchmarkInitError` if it is not a compilation database, or if an entry
    cannot be read; with `failed`, such an entry is added there with the reason instead.
    """
    for number, entry in enumerate(_read_entries(path), start=1):
        name = f"entry {number}"
        try:
            fields = _read_fields(entry)
            name, cwd = fields["file"], path.parent / fields.get("directory", ".")
            words = entry.get("arguments")
            command = (
                CompilerCommand.from_text(fields["command"], cwd)
                if words is None
                else CompilerCommand.parse(words, cwd)
            )
        except (BenchmarkInitError, ValueError) as error:
            if failed is None:
                raise BenchmarkInitError(f"{path}: {name}: {error}") from error
            failed.append((name, str(error)))
            continue
        output = fields.get("output") or command.output or ""
        target = _TARGET.search(output.replace(os.sep, "/"))
        yield name, target[1] if target else "all", command


def _read_fields(entry: object) -> dict[str, str]:
    """Return the text fields of an entry; raise `BenchmarkInitError` for an invalid entry."""
    if not isinstance(entry, dict):
        raise BenchmarkInitError(f"it must be an object (got {entry!r:.80})")
    fields = cast("dict[str, Any]", entry)
    words: object = fields.get("arguments")
    for name in ("file",) if words is not None else ("file", "command"):
        if name not in fields:
            raise BenchmarkInitError(f"it has no {name!r}")
    for name in ("file", "command", "directory", "output"):
        value = fields.get(name, "")
        if not isinstance(value, str) or "\0" in value:
            raise BenchmarkInitError(f"{name!r} must be text (got {value!r:.80})")
    is_list = isinstance(words, list) and all(
        isinstance(word, str) and "\0" not in word for word in cast("list[Any]", words)
    )
    if words is not None and not (is_list and words):
        raise BenchmarkInitError(f"'arguments' must be a list of texts (got {words!r:.80})")
    return {name: value for name, value in fields.items() if isinstance(value, str)}


def _read_entries(path: Path) -> list[Any]:
    try:
        entries: Any = json.loads(read_regular(path))
    except OSError as error:
        raise program_unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise BenchmarkInitError(f"{path} is not a compilation database: {error!r}") from error
    if not isinstance(entries, list):
        kind = type(entries).__name__
        raise BenchmarkInitError(f"{path} is not a compilation database: {kind} instead of list")
    return cast("list[Any]", entries)
