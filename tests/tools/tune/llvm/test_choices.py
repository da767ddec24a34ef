# SPDX-License-Identifier: MIT
"""Every choice links, and changes no answer."""

import subprocess
from pathlib import Path

from compiler_gym.tools.tune.llvm.choices import CHOICES, FRONT, find_option
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from compiler_gym.tools.tune.speed_decisions import add_choice
from tests.tools.tune.llvm.hot_and_cold import PLAN, linker_of, make_project


def test_every_choice_links_and_the_program_answers_the_same(tmp_path: Path) -> None:
    linker = linker_of(make_project(tmp_path / "project"))
    answers = set[bytes]()
    for choice in (*CHOICES, *FRONT.values()):
        made = LlvmTuner().build(
            linker.binary, add_choice(PLAN, choice, find_option), linker.folder, jobs=1
        )
        answers.add(subprocess.check_output([made, "1000"]))
    assert len(answers) == 1
