# SPDX-License-Identifier: MIT
"""The version of this library and the name of its distribution, each defined once."""

__all__ = ["DISTRIBUTION", "__version__", "install_hint"]

__version__ = "1.0.0rc1"

DISTRIBUTION = "compiler-gym-next"
"""The name in package indexes, where ``compiler_gym`` is CompilerGym 0.2.5."""


def install_hint(extra: str) -> str:
    """Return the command that installs this library with an extra.

    >>> install_hint("plot")
    "pip install 'compiler-gym-next[plot]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"
