# SPDX-License-Identifier: MIT
"""The words of one command that somebody else wrote down, and nothing beside it.

A recorded command line is read for its actions, and people paste it into a shell.
So it has to be one command: a reader takes words that it knows, and what it does
not know is refused rather than passed over.
"""

import re
import shlex

from compiler_gym.errors import InvalidActionError

__all__ = ["command_words", "is_file_name"]

_FILE_NAME = re.compile(r"-|[\w./][\w./+@%=,:-]*")
_SHOWN = 200


def command_words(text: str) -> list[str]:
    """Return the words of a command line, as a shell splits them.

    Raises `InvalidActionError` for what is no text, for a quote that does not end and for
    line breaks and other control characters, which would begin another command.

        >>> command_words("opt -passes='sroa,dce' input.bc")
        ['opt', '-passes=sroa,dce', 'input.bc']
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
        raise InvalidActionError(f"expected a command line, found {text!r:.200}")
    if not text.isprintable():
        raise InvalidActionError(
            f"{text[:_SHOWN]!r} is not one command: found a line break or a control character, "
            "expected the command alone"
        )
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InvalidActionError(
            f"{text[:_SHOWN]!r} is cut short: {error}: expected a whole command line"
        ) from error


def is_file_name(word: str) -> bool:
    """Return whether `word` is a file's name, or ``-``, in which a shell sees nothing to do.

    >>> [is_file_name(word) for word in ("input.bc", "output.bc;", "&&", "$(id)", "-")]
    [True, False, False, False, True]
    """
    return _FILE_NAME.fullmatch(word) is not None
