# SPDX-License-Identifier: MIT
"""Which programs are the user's own, and may do what the user may while they are compiled."""

__all__ = ["is_own"]

_OWN = ("benchmark://user-v0/", "file:")


def is_own(uri: str) -> bool:
    """Return whether the program at `uri` was given to this process as a path, bytes or source.

    What a dataset holds was written by somebody else, and so was what a submission names.

    >>> is_own("benchmark://user-v0/ab12"), is_own("benchmark://anghabench-v1/x")
    (True, False)
    """
    return uri.startswith(_OWN)
