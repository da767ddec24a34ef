# SPDX-License-Identifier: MIT
"""Splits a recorded command line, which is untrusted input, into words.

A command line is parsed for its actions, and users also paste it into a shell. So it must be
a single command: words that a parser does not know are an error, never skipped.
"""

import re
import shlex

from compiler_gym.errors import InvalidActionError

__all__ = ["command_words", "is_file_name"]

_FILE_NAME = re.compile(r"-|[\w./][\w./+@%=,:-]*")
_MOST_QUOTED_TEXT = 200


def command_words(text: str) -> list[str]:
    """Return the words of a command line, as a shell splits them.

    Raises `InvalidActionError` for a value that is not text, for an unclosed quote and for
    line breaks and other control characters, which would begin another command.

        >>> command_words("opt -passes='sroa,dce' input.bc")
        ['opt', '-passes=sroa,dce', 'input.bc']
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
        raise InvalidActionError(f"expected a command line, found {text!r:.200}")
    if not text.isprintable():
        raise InvalidActionError(
            f"{text[:_MOST_QUOTED_TEXT]!r} is not one command: found a line break or a control "
            "character, expected the command alone"
        )
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InvalidActionError(
            f"{text[:_MOST_QUOTED_TEXT]!r} is cut short: {error}: expected a whole command line"
        ) from error


def is_file_name(word: str) -> bool:
    """Return whether `word` is a file name, or ``-``, without characters special to a shell.

    >>> [is_file_name(word) for word in ("input.bc", "output.bc;", "&&", "$(id)", "-")]
    [True, False, False, False, True]
    """
    return _FILE_NAME.fullmatch(word) is not None
