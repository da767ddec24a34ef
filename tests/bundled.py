# SPDX-License-Identifier: MIT
"""Tests that take every bundled program: the fast ones take three that stand for all."""

from typing import Any

import pytest

from compiler_gym.datasets import BundledPrograms

__all__ = ["every_program"]

_FAST = ("crc32", "qsort", "stringsearch2")


def every_program() -> list[Any]:
    """Return the names of all, of which all but three are parameters of slow tests."""
    names = [str(uri).rpartition("/")[2] for uri in BundledPrograms().benchmark_uris()]
    return [pytest.param(name, marks=() if name in _FAST else pytest.mark.slow) for name in names]
