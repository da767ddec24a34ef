# SPDX-License-Identifier: MIT
"""The action space ``Parameters``: a pass and values for its parameters.

``table`` lists the parameters, read from ``passes.tsv``; it imports nothing heavy, because
workers read it too. ``space`` is the action space in the user's process. LLVM uses its default for
a parameter that an action does not set; an action that sets none runs the plain pass.
"""

from compiler_gym.envs.llvm.actions.parameters.table import (
    NAME,
    PARAMETERS,
    SLOTS,
    STYLE,
    Form,
    Parameter,
    Setting,
    make_setting,
)

__all__ = ["NAME", "PARAMETERS", "SLOTS", "STYLE", "Form", "Parameter", "Setting", "make_setting"]
