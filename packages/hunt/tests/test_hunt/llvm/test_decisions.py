# SPDX-License-Identifier: MIT
"""Decisions are texts that read back, and each goal has its level."""

import shlex

import pytest

from compiler_gym.envs.llvm.actions import codegen_options
from compiler_gym_hunt.llvm.decisions import HuntedDecision, HuntGoal, decisions_for


@pytest.mark.parametrize("goal", HuntGoal)
def test_every_decision_reads_back_and_holds_the_level(goal: HuntGoal) -> None:
    found = list(decisions_for(goal))
    assert len(set(found)) == len(found) > 50
    assert all(HuntedDecision.read(str(one)) == one for one in found)
    assert all(goal.level in one.passes for one in found)


def test_options_of_the_code_generator_are_ones_that_the_engine_knows() -> None:
    known = {f"{one.name}={value}" for one in codegen_options.OPTIONS for value in one.values}
    asked = {option for one in decisions_for(HuntGoal.SIZE) for option in one.codegen}
    assert asked
    assert asked <= known
    assert not any(one.codegen for one in decisions_for(HuntGoal.INSTRUCTIONS))


def test_the_command_is_one_that_a_shell_takes_apart_as_it_was_meant() -> None:
    decision = HuntedDecision(("default<Oz>", "function(gvn)"), ("disable-lsr=true",))
    words = shlex.split(decision.command("f.ll", version="-22"))
    assert words[:3] == ["opt-22", "-passes=default<Oz>,function(gvn)", "f.ll"]
    assert words[-3:] == ["--disable-lsr=true", "-o", "f.o"]
