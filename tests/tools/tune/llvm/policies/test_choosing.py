# SPDX-License-Identifier: MIT
"""A policy ranks its plans by the features of a program, and is read strictly."""

import json
from pathlib import Path

import pytest

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import BinaryPlan, recipe_named
from compiler_gym.tools.tune.commands.recipes import policy_files
from compiler_gym.tools.tune.llvm.policies import FEATURES, Policy, read_policy, write_policy
from compiler_gym.tools.tune.llvm.possible import require_possible

COUNT = len(FEATURES)


def policy(*rows: tuple[float, ...]) -> Policy:
    plans = tuple(BinaryPlan(str(number), "link-time") for number in range(len(rows)))
    return Policy("llvm 22", "x86_64", "small", plans, (1.0,) * COUNT, (2.0,) * COUNT, rows)


def test_the_plan_with_the_highest_score_is_the_first() -> None:
    larger_is_second = policy((0.0,) * COUNT + (0.0,), (1.0,) + (0.0,) * COUNT)
    few, many = ([size] + [1.0] * (COUNT - 1) for size in (0.0, 2.0))
    assert [plan.name for plan in larger_is_second.rank_plans(few)] == ["0", "1"]
    assert [plan.name for plan in larger_is_second.rank_plans(many)] == ["1", "0"]


def test_a_policy_is_what_was_written(tmp_path: Path) -> None:
    written = policy((0.25,) * (COUNT + 1))
    write_policy(written, tmp_path / "one.json")
    assert read_policy(tmp_path / "one.json") == written


@pytest.mark.parametrize(
    "change",
    [{"version": 2}, {"features": ["other"]}, {"plans": []}, {"weights": [[0.0]]}],
)
def test_a_policy_of_another_version_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    write_policy(policy((0.25,) * (COUNT + 1)), tmp_path / "one.json")
    document = json.loads((tmp_path / "one.json").read_text()) | change
    (tmp_path / "one.json").write_text(json.dumps(document))
    with pytest.raises(PlanError, match="train it again"):
        read_policy(tmp_path / "one.json")


def test_an_invalid_policy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("[]")
    with pytest.raises(PlanError, match=r"one\.json does not contain a policy"):
        read_policy(tmp_path / "one.json")
    with pytest.raises(PlanError, match="No such file"):
        read_policy(tmp_path / "none.json")


def test_shipped_policies_have_plans_that_a_tuner_could_make_from_bitcode_of_their_recipe() -> None:
    for path in policy_files().values():
        shipped = read_policy(path)
        recipe = recipe_named(shipped.recipe).plan
        assert path.stat().st_size < 1 << 20
        assert len({plan.name for plan in shipped.plans}) == len(shipped.plans)
        for plan in shipped.plans:
            require_possible(plan)
            assert (plan.method, plan.passes) == (recipe.method, recipe.passes)
