# SPDX-License-Identifier: MIT
"""The version of this library and the name of its distribution, each defined once."""

__all__ = ["DISTRIBUTION", "REINSTALL", "__version__", "install_hint", "missing_hint"]

__version__ = "1.0.0rc1"

DISTRIBUTION = "compiler-gym-next"
"""The name in package indexes, where ``compiler_gym`` is CompilerGym 0.2.5."""
REINSTALL = f"pip install --force-reinstall {DISTRIBUTION}"
"""The command that brings back packages of this library that are missing."""


def install_hint(extra: str) -> str:
    """Return the command that installs this library with an extra.

    >>> install_hint("plot")
    "pip install 'compiler-gym-next[plot]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def missing_hint(wanted: str, package: str) -> str:
    """Return the message for `wanted`, which is in a package that this installation lacks.

    >>> print(missing_hint("gcc-v0", "compiler_gym_gcc").partition(":")[0])
    gcc-v0 needs compiler_gym_gcc, which is missing here
    """
    return f"{wanted} needs {package}, which is missing here: {REINSTALL}"
