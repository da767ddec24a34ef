# SPDX-License-Identifier: MIT
"""The text of a pass pipeline, taken apart. It says nothing of what the parts mean."""

__all__ = ["split_pipeline"]


def split_pipeline(text: str) -> list[str]:
    """Return the parts of a pass pipeline: split at commas outside brackets.

    >>> split_pipeline("function(sroa<a;b>,dce),globaldce")
    ['function(sroa<a;b>,dce)', 'globaldce']
    """
    parts: list[str] = []
    depth, start = 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]
