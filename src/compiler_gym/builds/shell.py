# SPDX-License-Identifier: MIT
"""Words as a shell reads them, with variables in the place of folders."""

import re
import shlex
from collections.abc import Mapping, Sequence

__all__ = ["shell_text"]


def shell_text(words: Sequence[str], folders: Mapping[str, str]) -> str:
    """Return a command; each of `folders`, wherever it stands in a word, is its variable.

    >>> shell_text(["cc", "-I/tree/a b", "x.c"], {"/tree": "ROOT"})
    'cc -I"$ROOT"\\'/a b\\' x.c'
    """
    return " ".join(_word(word, folders) for word in words)


def _word(word: str, folders: Mapping[str, str]) -> str:
    if not folders:
        return shlex.quote(word)
    longest = sorted(folders, key=len, reverse=True)
    marks = re.compile(f"({'|'.join(map(re.escape, longest))})(?![^/])")
    pieces = [piece for piece in marks.split(word) if piece]
    return "".join(
        f'"${folders[piece]}"' if piece in folders else shlex.quote(piece) for piece in pieces
    ) or shlex.quote(word)
