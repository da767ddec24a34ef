# SPDX-License-Identifier: MIT
"""Calls of `compiler-gym cc` that need no parsing are served before anything is loaded."""

import pytest

from compiler_gym.tools.tune.commands import early
from tests.stand_ins import stand_in


@pytest.mark.parametrize("words", [[], ["cc"], ["cc", "--recipe"], ["cc", "-c", "x.c"]])
def test_other_calls_are_left_to_the_command_line(words: list[str]) -> None:
    assert early.serve(words) is None


def test_a_plan_becomes_the_compiled_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    became = list[list[str]]()
    place = "compiler_gym.tools.tune.commands.driver.become_driver"
    monkeypatch.setattr(place, became.append)
    words = ["cc", "--plan", "tuned.toml", "-c", "x.c"]
    assert early.serve(words) is None
    assert became == [words]


@pytest.mark.parametrize("option", ["recipe", "policy"])
def test_a_recipe_and_a_policy_answer_with_a_status(
    monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    place = f"compiler_gym.tools.tune.commands.policies.run_known_{option}"
    monkeypatch.setattr(place, stand_in(lambda verb, name, arguments: len(arguments)))
    assert early.serve(["cxx", f"--{option}", "small", "-c", "x.cc"]) == 2
