# SPDX-License-Identifier: MIT
"""Recognises the user's own programs, which are compiled without a sandbox."""

__all__ = ["is_own"]

_USER_URIS = ("benchmark://user-v0/", "file:")


def is_own(uri: str) -> bool:
    """Return whether the program at `uri` was passed to this process as a path, bytes or source.

    Programs of datasets and of submissions are untrusted.

    >>> is_own("benchmark://user-v0/ab12"), is_own("benchmark://anghabench-v1/x")
    (True, False)
    """
    return uri.startswith(_USER_URIS)
