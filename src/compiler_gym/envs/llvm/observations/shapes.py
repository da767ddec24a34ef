# SPDX-License-Identifier: MIT
"""Spaces that several rows share."""

from compiler_gym.session import BoxSpec, ScalarSpec

__all__ = ["COUNT", "MOST", "counts"]

MOST = 2**63 - 2
"""The upper bound of a count; one below the maximum because Gymnasium adds 1 when it samples."""

COUNT = ScalarSpec(0, MOST, "int")
"""The space of a count: an integer of at least 0."""


def counts(size: int) -> BoxSpec:
    """Return a space of `size` counts, int64."""
    return BoxSpec(0, MOST, (size,), "int64")
