# SPDX-License-Identifier: MIT
"""Every decision that a plan may hold has a sentence."""

from compiler_gym.envs.llvm.actions import ACTION_SPACES
from compiler_gym.envs.llvm.actions.codegen_options import DEFAULT, OPTIONS, is_choice
from compiler_gym.envs.llvm.toolchain.commands import CLEAR
from compiler_gym.session import CommandlineSpec
from compiler_gym.tools.tune.llvm.flags import FOLDING
from compiler_gym.tools.tune.llvm.meanings import meaning
from compiler_gym.tools.tune.llvm.size import SPACE


def decisions() -> list[str]:
    (space,) = (each.space for each in ACTION_SPACES if each.name == SPACE)
    assert isinstance(space, CommandlineSpec)
    return [
        *("passes", "profile", f"pass {CLEAR}"),
        *(f"pass {item.flag}" for item in space.items if not is_choice(item.flag)),
        *(f"option {o.name}={v}" for o in OPTIONS for v in o.values if v != DEFAULT),
        *(f"linker {flag}" for flag in FOLDING),
    ]


def test_every_decision_has_one_sentence_and_a_link() -> None:
    without = [name for name in decisions() if len(meaning(name).sentence) < 10]
    assert without == []
    for name in decisions():
        found = meaning(name)
        assert found.sentence.endswith(".")
        assert found.link.startswith("https://")


def test_a_setting_is_described_with_its_value() -> None:
    said = meaning("option inline-threshold=60").sentence
    assert said == "Maximum cost of a function to inline: 60."
    assert meaning("flag -fplugin=x").sentence == ""
