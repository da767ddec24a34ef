# SPDX-License-Identifier: MIT
"""Choices stand beside each other, once for an option, and are read back from a journal."""

import pytest

from compiler_gym.tools.tune import BinaryPlan, Choice
from compiler_gym.tools.tune.gcc.choices import CHOICES as GCC
from compiler_gym.tools.tune.gcc.choices import FRONT as GCC_FRONT
from compiler_gym.tools.tune.gcc.flags import find_option as gcc_option
from compiler_gym.tools.tune.llvm.choices import CHOICES, FRONT, find_option
from compiler_gym.tools.tune.speed_decisions import add_choice, list_actions, make_plan

PLAN = BinaryPlan("program", "fast", linker=("-Wl,--gc-sections",))


def test_a_choice_replaces_what_says_something_else_of_the_same_option() -> None:
    first = add_choice(PLAN, Choice(("-mllvm=-a=500",), ("-Wl,-mllvm,-b=1",)), find_option)
    second = add_choice(first, Choice(("-mllvm=-a=100",), ("-Wl,-mllvm,-c=1",)), find_option)
    assert second.flags == ("-mllvm=-a=100",)
    assert second.linker == (*PLAN.linker, "-Wl,-mllvm,-b=1", "-Wl,-mllvm,-c=1")
    off = add_choice(
        add_choice(PLAN, Choice(("-fweb",)), gcc_option), Choice(("-fno-web",)), gcc_option
    )
    assert off.flags == ("-fno-web",)


@pytest.mark.parametrize("choice", [*CHOICES, *FRONT.values(), *GCC, *GCC_FRONT.values()])
def test_a_journal_says_everything_of_a_plan(choice: Choice) -> None:
    plan = add_choice(PLAN, choice, find_option)
    assert make_plan(list_actions(plan), PLAN) == plan
