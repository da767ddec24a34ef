# SPDX-License-Identifier: MIT
"""Zstandard, of Python's own library from 3.14 on, or as it was brought to older ones."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
