# SPDX-License-Identifier: MIT
"""Shell commands and comments, with variables instead of folders."""

import re
import shlex
from collections.abc import Mapping, Sequence

__all__ = ["shell_comment", "shell_text"]

_CONTROLS = {
    number: ascii(chr(number))[1:-1]
    for number in (*range(32), *range(127, 160), 0x2028, 0x2029)
    if number != 10
}


def shell_text(words: Sequence[str], folders: Mapping[str, str]) -> str:
    """Return a command in which each of `folders` is replaced by its variable.

    >>> shell_text(["cc", "-I/tree/a b", "x.c"], {"/tree": "ROOT"})
    'cc -I"$ROOT"\\'/a b\\' x.c'
    """
    return " ".join(_word(word, folders) for word in words)


def shell_comment(text: str) -> str:
    """Return `text` as comment lines for a shell, safely for any text.

    >>> print(shell_comment("make\\nrm -rf x\\r\\x1b"))
    # make
    #   rm -rf x\\r\\x1b
    """
    return "\n#   ".join(f"# {text}".split("\n")).translate(_CONTROLS)


def _word(word: str, folders: Mapping[str, str]) -> str:
    if not folders:
        return shlex.quote(word)
    longest = sorted(folders, key=len, reverse=True)
    pattern = re.compile(f"({'|'.join(map(re.escape, longest))})(?![^/=])")
    pieces = [piece for piece in pattern.split(word) if piece]
    return "".join(
        f'"${folders[piece]}"' if piece in folders else shlex.quote(piece) for piece in pieces
    ) or shlex.quote(word)
