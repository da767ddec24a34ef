# SPDX-License-Identifier: MIT
"""Environments over the fake session, as those of the core's tests."""

from core.conftest import make_env

__all__ = ["make_env"]
