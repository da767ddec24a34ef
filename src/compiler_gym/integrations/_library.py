# SPDX-License-Identifier: MIT
"""Imports a library that an extra installs, or says which extra."""

import importlib
from typing import Any

from compiler_gym.errors import EnvironmentNotSupported
from compiler_gym.version import install_hint

__all__ = ["library"]


def library(name: str, extra: str) -> Any:
    """Return the module `name`; raise `EnvironmentNotSupported` if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EnvironmentNotSupported(
            f"{name.partition('.')[0]} is missing ({error}): {install_hint(extra)}"
        ) from error
