# SPDX-License-Identifier: MIT
"""The extension module, which a build may omit: imported on first use."""

from importlib import import_module
from typing import Any

from compiler_gym.errors import ObservationError
from compiler_gym.version import install_hint

__all__ = ["jit_module"]


def jit_module() -> Any:
    """Return ``compiler_gym._jit``; raise `ObservationError` if this build does not have it."""
    try:
        return import_module("compiler_gym._jit")
    except ImportError as error:
        raise ObservationError(
            "the just-in-time compiler is a separate package and is not installed; install it "
            f"with: {install_hint('jit')}"
        ) from error
