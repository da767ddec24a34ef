# SPDX-License-Identifier: MIT
"""Splits a recorded command line, which is untrusted input, into arguments.

A command line is parsed for its actions, and users also paste it into a shell. It must therefore
be a single command: arguments that a parser does not know are an error, never skipped.
"""

import re

from compiler_gym.errors import InvalidActionError

__all__ = ["is_file_name", "split_command", "split_words"]

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
