# SPDX-License-Identifier: MIT
"""The extension module, which a build may leave out: imported on first use."""

from importlib import import_module
from typing import Any

from compiler_gym.errors import ObservationError

__all__ = ["jit_module"]


def jit_module() -> Any:
    """Return ``compiler_gym._jit``, or raise `ObservationError` where this build has none."""
    try:
        return import_module("compiler_gym._jit")
    except ImportError as error:
        raise ObservationError(
            "this installation has no just-in-time compiler, which wheels leave out for its size: "
            "install from the sources, `make setup` in a checkout (COMPILER_GYM_JIT=ON)"
        ) from error
