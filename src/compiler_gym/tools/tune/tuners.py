# SPDX-License-Identifier: MIT
"""Find the tuner for a compiler by name."""

from pathlib import Path

from compiler_gym.errors import UnknownNameError
from compiler_gym.tools.tune.tuner import Tuner

__all__ = ["tuner_named"]

_ONLY = "llvm"


def tuner_named(name: str | None) -> Tuner:
    """Return the tuner for the compiler `name`, which may include a version.

    None selects the default. Raises `UnknownNameError` for any other compiler.
    """
    from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner

    if name is None or name.partition(" ")[0] == _ONLY:
        return LlvmTuner()
    other = "; GCC is available as the environment gcc-v0" if "gcc" in Path(name).name else ""
    raise UnknownNameError(f"no tuner for the compiler {name!r}: use {_ONLY}{other}")
