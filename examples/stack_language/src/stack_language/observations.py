# SPDX-License-Identifier: MIT
"""What can be seen: the observation spaces."""

from compiler_gym.session import BoxSpec, ObservationSpec, ScalarSpec, TextSpec
from stack_language._language import OPCODES

__all__ = ["OBSERVATION_SPACES"]

OBSERVATION_SPACES = (
    ObservationSpec("Text", TextSpec(), "The program, one instruction to a line.", default=""),
    ObservationSpec(
        "Opcodes",
        BoxSpec(0, 2**31 - 2, (len(OPCODES),), "int64"),
        f"How often each opcode occurs: {', '.join(OPCODES)}.",
    ),
    ObservationSpec("Size", ScalarSpec(0, None, "int"), "Instructions.", default=0),
    ObservationSpec("Cycles", ScalarSpec(0, None, "int"), "Cycles of one run.", default=0),
    ObservationSpec("SizeAtReset", ScalarSpec(0, None, "int"), "Size at reset.", default=0),
    ObservationSpec("CyclesAtReset", ScalarSpec(0, None, "int"), "Cycles at reset.", default=0),
)
