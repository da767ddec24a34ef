# SPDX-License-Identifier: MIT
"""Peephole rules over a toy stack language.

Importing this names the compiler and nothing more. ``session`` runs in workers,
``environment`` is what users hold; ``actions``, ``observations`` and ``rewards``
are tables, ``datasets`` the programs, ``validation`` the proof that a program
still does its job. ``_language`` is the toy itself.
"""

from compiler_gym.registration import Compiler, EnvironmentId

__all__ = ["stack"]

stack = Compiler(
    name="stack",
    description="Peephole rules over a toy stack language",
    environment="stack_language.environment:StackEnv",
    environments=(
        EnvironmentId("stack-v0"),
        EnvironmentId("stack-size-v0", {"observation_space": "Opcodes", "reward_space": "Size"}),
    ),
)
"""What the entry point names."""
