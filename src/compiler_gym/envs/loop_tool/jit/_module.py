# SPDX-License-Identifier: MIT
"""The extension module, which a build may leave out: imported on first use."""

from importlib import import_module
from typing import Any

from compiler_gym.errors import ObservationError
from compiler_gym.version import install_hint

__all__ = ["jit_module"]


def jit_module() -> Any:
    """Return ``compiler_gym._jit``, or raise `ObservationError` where this build has none."""
    try:
        return import_module("compiler_gym._jit")
    except ImportError as error:
        raise ObservationError(
            "this installation has no just-in-time compiler, which is a package of its own: "
            f"install it with: {install_hint('jit')}"
        ) from error
