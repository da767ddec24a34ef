# SPDX-License-Identifier: MIT
"""Every choice links, changes no answer, and is written to a journal and read back."""

import subprocess
from pathlib import Path

from compiler_gym.envs.llvm.tuning.choices import CHOICES, FRONT, Choice, actions_of, added, plan_of
from compiler_gym.envs.llvm.tuning.llvm_tuner import LlvmTuner
from tests.envs.llvm.tuning.hot_and_cold import PLAN, linker_of, make_project


def test_every_choice_links_and_the_program_answers_the_same(tmp_path: Path) -> None:
    linker = linker_of(make_project(tmp_path / "project"))
    answers = set[bytes]()
    for choice in (*CHOICES, *FRONT.values()):
        made = LlvmTuner().build(linker.binary, added(PLAN, choice), linker.folder, jobs=1)
        answers.add(subprocess.check_output([made, "1000"]))
    assert len(answers) == 1


def test_a_choice_replaces_what_says_something_else_of_the_same_option() -> None:
    first = added(PLAN, Choice(("-mllvm=-inline-threshold=500",), ("-Wl,-mllvm,-a=1",)))
    second = added(first, Choice(("-mllvm=-inline-threshold=100",), ("-Wl,-mllvm,-b=1",)))
    assert second.flags == ("-mllvm=-inline-threshold=100",)
    assert second.linker == (*PLAN.linker, "-Wl,-mllvm,-a=1", "-Wl,-mllvm,-b=1")


def test_a_journal_says_everything_of_a_plan() -> None:
    for choice in (*CHOICES, *FRONT.values()):
        plan = added(PLAN, choice)
        assert plan_of(actions_of(plan), PLAN) == plan
