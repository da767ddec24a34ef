# SPDX-License-Identifier: MIT
"""The action space ``Parameters``: a pass, and values for what it takes.

``table`` is what there is, read from ``passes.tsv``; it imports nothing heavy, because
workers read it too. ``space`` is what users hold. What a parameter is left to is LLVM's
choice: an action that sets none is the plain pass.
"""

from compiler_gym.envs.llvm.actions.parameters.table import (
    NAME,
    PARAMETERS,
    SLOTS,
    STYLE,
    Form,
    Parameter,
    Setting,
    setting_of,
)

__all__ = ["NAME", "PARAMETERS", "SLOTS", "STYLE", "Form", "Parameter", "Setting", "setting_of"]
