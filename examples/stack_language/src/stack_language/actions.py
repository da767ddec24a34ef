# SPDX-License-Identifier: MIT
"""What can be done: the action spaces."""

from compiler_gym.session import (
    ActionSpaceSpec,
    CommandlineSpec,
    DictSpec,
    DiscreteSpec,
    FlagSpec,
    PermutationSpec,
)
from stack_language._language import RULES

__all__ = ["ACTION_SPACES", "MOST_ROUNDS", "sites_space"]

MOST_ROUNDS = 3


def sites_space(count: int) -> ActionSpaceSpec:
    """Return the space of `count` places to rewrite; it changes with the program."""
    return ActionSpaceSpec("Sites", DiscreteSpec(count), "Rewrite at one place; ends with the last")


ACTION_SPACES = (
    ActionSpaceSpec(
        "Rules",
        CommandlineSpec(
            tuple(FlagSpec(name, f"--{name}", str(rule.__doc__)) for name, rule in RULES.items())
        ),
        "Apply one rule everywhere, once",
    ),
    ActionSpaceSpec(
        "Schedule",
        DictSpec({"order": PermutationSpec(len(RULES)), "rounds": DiscreteSpec(MOST_ROUNDS, 1)}),
        "Apply all rules in an order, some rounds; ends the episode",
    ),
    sites_space(1),
)
