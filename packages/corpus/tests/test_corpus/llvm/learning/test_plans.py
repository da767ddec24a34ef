# SPDX-License-Identifier: MIT
"""What is measured is a recipe, its rivals and single changes, all of which a tuner may decide."""

from compiler_gym.tools.tune import recipe_named
from compiler_gym.tools.tune.llvm import checked
from compiler_gym_corpus.llvm.learning import FAIR, PLAIN, plan_key, plans_around
from compiler_gym_corpus.llvm.learning.plans import with_options

SMALL = recipe_named("small").plan


def test_a_recipe_is_measured_next_to_its_rivals_and_without_each_decision() -> None:
    plans = plans_around(SMALL)
    assert plans[:3] == [PLAIN, FAIR, SMALL]
    assert all(SMALL.without(f"option {n}={v}") in plans for n, v in SMALL.options.items())
    assert len({plan_key(plan) for plan in plans}) == len(plans)


def test_every_plan_but_the_plain_one_is_one_that_a_tuner_may_make() -> None:
    for plan in plans_around(SMALL):
        if plan != PLAIN:
            checked(plan)


def test_an_empty_value_leaves_an_option_to_the_compiler() -> None:
    plan = with_options(SMALL, {"disable-lsr": "", "regalloc": "basic"})
    assert "disable-lsr" not in plan.options
    assert plan.options["regalloc"] == "basic"
