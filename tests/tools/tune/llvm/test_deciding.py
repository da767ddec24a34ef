# SPDX-License-Identifier: MIT
"""Decisions as actions and as a plan are the same decisions."""

import pytest

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.llvm.deciding import (
    SAVINGS,
    UNSAFE,
    choices,
    make_plan,
    make_state,
    of_modules,
    split,
    with_action,
    without,
    without_outliner,
)

BARE = BinaryPlan("tool", "program")
STATE = (
    "-Oz", "dce", "disable-lsr=true", "regalloc=basic", "flag -fno-plt", "linker -Wl,--icf=all",
)  # fmt: skip


def test_actions_are_passes_and_options() -> None:
    actions = ("sroa<modify-cfg>", "simplifycfg<bonus-inst-threshold=4>", "regalloc=basic",
               "disable-lsr=default", "relocation-model=pic", "linker -Wl,-O2")  # fmt: skip
    assert split(actions) == (actions[:2], {"regalloc": "basic"})


def test_a_state_and_its_plan_say_the_same() -> None:
    plan = make_plan(STATE, BARE)
    assert plan.options == {"disable-lsr": "true", "regalloc": "basic"}
    assert (plan.flags, plan.linker) == (("-fno-plt",), ("-Wl,--icf=all",))
    assert make_state(plan) == STATE


def test_no_passes_are_another_plan_than_the_default() -> None:
    assert make_plan((), BARE).passes == "invalidate<all>"
    assert make_state(make_plan((), BARE)) == ()
    assert make_plan(("-Oz",), BARE).passes == ""
    assert make_state(BARE) == ("-Oz",)


def test_a_pass_that_no_search_tries_is_named() -> None:
    with pytest.raises(PlanError, match="function\\(dce\\)x"):
        make_state(BinaryPlan("tool", "program", "function(dce)x"))


def test_an_action_takes_the_place_of_what_sets_the_same() -> None:
    assert with_action(STATE, "regalloc=greedy")[3] == "regalloc=greedy"
    assert "linker -Wl,--icf=all" not in with_action(STATE, "linker -Wl,--icf=safe")


def test_saves_of_outlined_functions_are_decided_with_the_outliner() -> None:
    first = with_action(STATE, SAVINGS[0])
    assert make_plan(first, BARE).options["enable-machine-outliner"] == "always"
    again = with_action(first, SAVINGS[1])
    assert SAVINGS[0] not in again
    assert make_state(make_plan(again, BARE)) == again
    assert SAVINGS[1].partition("=")[0] not in of_modules(make_plan(again, BARE).options)
    assert list(choices())[: len(SAVINGS)] == list(SAVINGS)
    assert without_outliner(again) == STATE


def test_each_decision_is_left_out_by_the_name_that_a_plan_gives_it() -> None:
    rest = without(STATE)
    assert set(rest) == set(make_plan(STATE, BARE).decisions())
    assert rest["passes"] == ("-Oz", *STATE[2:])
    assert rest["option regalloc=basic"] == tuple(a for a in STATE if a != "regalloc=basic")
    assert "passes" not in without(("-Oz", "regalloc=basic"))


def test_options_that_are_refused_are_not_offered() -> None:
    offered = set(choices())
    assert offered - set(choices(UNSAFE)) == {"enable-ipra=true"}
    assert not any(action.startswith("relocation-model") for action in offered)
