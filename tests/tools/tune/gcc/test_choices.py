# SPDX-License-Identifier: MIT
"""Every choice for speed is an option that this GCC has, and that never changes an answer."""

import subprocess

from compiler_gym.tools.tune.gcc.choices import CHOICES, FAST, FRONT, FRONT_BASE
from compiler_gym.tools.tune.gcc.flags import REFUSED, find_option
from compiler_gym.tools.tune.gcc.meanings import meaning
from tests.tools.tune.gcc.projects import GCC, needed

_FOR_PROFILES = "needs a profile, or patches running code"
_SLOWER = "only makes code larger, or has no effect"


def words() -> list[str]:
    return [word for choice in (*CHOICES, *FRONT.values()) for word in choice.flags]


def test_this_compiler_takes_every_choice() -> None:
    needed()
    told = [GCC, "-Werror", *FAST, *words(), "-x", "c", "-c", "-", "-o", "/dev/null"]
    subprocess.run(told, input=b"int one(void) { return 1; }", check=True)


def test_no_choice_changes_what_a_program_means() -> None:
    reasons = {name: reason for reason, names in REFUSED.items() for name in names}
    names = {find_option(word).removeprefix("-f") for word in words()}
    refused = {reasons.get(name, _SLOWER) for name in names}
    assert refused <= {_FOR_PROFILES, _SLOWER}


def test_every_choice_has_one_sentence_and_a_link() -> None:
    needed()
    for word in words():
        found = meaning(GCC, f"flag {word}")
        assert len(found.sentence) > 10, word
        assert found.link.startswith("https://"), word


def test_a_front_begins_with_one_of_its_builds() -> None:
    assert FRONT_BASE in FRONT
