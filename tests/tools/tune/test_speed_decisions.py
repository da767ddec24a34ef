# SPDX-License-Identifier: MIT
"""Choices stand beside each other, once for an option, and are read back from a journal."""

import pytest

from compiler_gym.tools.tune import BinaryPlan, Choice
from compiler_gym.tools.tune.gcc.choices import CHOICES as GCC
from compiler_gym.tools.tune.gcc.choices import FRONT as GCC_FRONT
from compiler_gym.tools.tune.gcc.flags import option_of as gcc_option
from compiler_gym.tools.tune.llvm.choices import CHOICES, FRONT, option_of
from compiler_gym.tools.tune.speed_decisions import actions_of, added, plan_of

PLAN = BinaryPlan("program", "fast", linker=("-Wl,--gc-sections",))


def test_a_choice_replaces_what_says_something_else_of_the_same_option() -> None:
    first = added(PLAN, Choice(("-mllvm=-a=500",), ("-Wl,-mllvm,-b=1",)), option_of)
    second = added(first, Choice(("-mllvm=-a=100",), ("-Wl,-mllvm,-c=1",)), option_of)
    assert second.flags == ("-mllvm=-a=100",)
    assert second.linker == (*PLAN.linker, "-Wl,-mllvm,-b=1", "-Wl,-mllvm,-c=1")
    off = added(added(PLAN, Choice(("-fweb",)), gcc_option), Choice(("-fno-web",)), gcc_option)
    assert off.flags == ("-fno-web",)


@pytest.mark.parametrize("choice", [*CHOICES, *FRONT.values(), *GCC, *GCC_FRONT.values()])
def test_a_journal_says_everything_of_a_plan(choice: Choice) -> None:
    plan = added(PLAN, choice, option_of)
    assert plan_of(actions_of(plan), PLAN) == plan
