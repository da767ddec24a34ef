# SPDX-License-Identifier: MIT
"""Zstandard: the standard library's module since Python 3.14, or its backport."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
