# SPDX-License-Identifier: MIT
"""How many examples a test of many environments draws: a third, unless every test is asked for."""

import os

__all__ = ["examples"]

_IS_FULL = os.environ.get("TEST_EFFORT") == "full"


def examples(full: int) -> int:
    """Return how many of `full` examples this run draws: all with ``TEST_EFFORT=full``."""
    return full if _IS_FULL else -(-full // 3)
