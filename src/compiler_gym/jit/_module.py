# SPDX-License-Identifier: MIT
"""The extension module, which a build may leave out."""

from types import ModuleType

from compiler_gym.errors import ObservationError

__all__ = ["jit_module"]


def jit_module() -> ModuleType:
    """Return ``compiler_gym._jit``, or raise `ObservationError` where this build has none."""
    try:
        from compiler_gym import _jit
    except ImportError as error:
        raise ObservationError(
            "this build of compiler_gym has no just-in-time compiler: build it with "
            "-DCOMPILER_GYM_JIT=ON"
        ) from error
    return _jit
