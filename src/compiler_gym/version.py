# SPDX-License-Identifier: MIT
"""The version of this library, written once."""

__all__ = ["__version__"]

__version__ = "1.0.0.dev0"
