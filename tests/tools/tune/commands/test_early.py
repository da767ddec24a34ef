# SPDX-License-Identifier: MIT
"""Calls of `compiler-gym cc` that need no parsing become the driver before anything is loaded."""

import pytest

from compiler_gym.tools.tune.commands import early


@pytest.mark.parametrize("words", [[], ["cc"], ["cc", "--recipe"], ["cc", "-c", "x.c"]])
def test_other_calls_are_left_to_the_command_line(words: list[str]) -> None:
    assert early.serve(words) is None


@pytest.mark.parametrize(
    "words",
    [["cc", "--plan", "tuned.toml", "-c", "x.c"], ["cxx", "--recipe", "small"],
     ["cc", "--policy", "size", "-c", "x.c"], ["cc", "-m64", "x.rcgu.o"]],
)  # fmt: skip
def test_a_plan_a_recipe_a_policy_and_rustc_are_for_the_driver(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    became = list[list[str]]()
    place = "compiler_gym.tools.tune.commands.early.become_driver"
    monkeypatch.setattr(place, became.append)
    assert early.serve(words) is None
    assert became == [words]
