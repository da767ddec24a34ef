# SPDX-License-Identifier: MIT
"""Calls of `compiler-gym cc` that need no parsing become the compiled driver at once."""

import sys
from pathlib import Path

import pytest

from compiler_gym.tools.tune.commands import early
from compiler_gym.tools.tune.commands.early import find_compiled_driver


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


def test_the_driver_is_found_next_to_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert Path(find_compiled_driver("cc")).name == "compiler-gym-cc"


def test_without_a_driver_the_message_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["compiler-gym"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SystemExit, match="compiler-gym-cxx not found next to"):
        find_compiled_driver("cxx")
