# SPDX-License-Identifier: MIT
"""Every decision that a plan may hold has a sentence."""

import shutil

import pytest

from compiler_gym.tools.tune.gcc.flags import possible
from compiler_gym.tools.tune.gcc.meanings import meaning
from compiler_gym.tools.tune.gcc.size import LINKER

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def test_every_decision_has_one_sentence_and_a_link() -> None:
    decisions = [*(f"flag {flag}" for flag in possible()), *(f"linker {flag}" for flag in LINKER)]
    for name in decisions:
        found = meaning("gcc", name)
        assert len(found.sentence) > 10, name
        assert found.sentence.endswith("."), name
        assert found.link.startswith("https://"), name


def test_the_compilers_own_help_says_what_a_flag_does() -> None:
    on, off = meaning("gcc", "flag -fgcse"), meaning("gcc", "flag -fno-gcse")
    assert "common subexpression" in on.sentence
    assert off.sentence == f"Disables: {on.sentence}"
    assert on.link.endswith("#index-fgcse")
    assert meaning("gcc", "flag --param=max-hoist-depth=1").sentence.endswith(": 1.")
    assert meaning("gcc", "flag -o/etc/passwd").sentence == ""
