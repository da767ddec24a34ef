# SPDX-License-Identifier: MIT
"""Layers have the sizes and the work that their papers give."""

import pytest

from compiler_gym_loop_tool.programs.layers import HELD_OUT, LAYERS
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_is_a_program(name: str) -> None:
    assert parse_program(describe(*LAYERS[name])).flops > 0


def test_resnet_has_the_operations_of_its_paper() -> None:
    repeats = {2: 3, 3: 4, 4: 6, 5: 3}
    total = sum(flops(f"resnet50-{name}") for name in ("conv1", "classes"))
    for stage, blocks in repeats.items():
        first = ("first-1x1", "first-3x3", "shortcut", "expand")
        later = ("reduce", "3x3", "expand")
        total += sum(flops(f"resnet50-conv{stage}-{name}") for name in first)
        total += (blocks - 1) * sum(flops(f"resnet50-conv{stage}-{name}") for name in later)
    assert total / 2 == pytest.approx(4.1e9, rel=0.03)  # multiply-adds, with the stride in 3x3


def flops(name: str) -> int:
    return parse_program(describe(*LAYERS[name])).flops


def test_25_matmuls_are_held_out() -> None:
    assert len(set(HELD_OUT)) == 25
    assert all(int(side) in range(64, 257, 16) for name in HELD_OUT for side in name.split("x"))
