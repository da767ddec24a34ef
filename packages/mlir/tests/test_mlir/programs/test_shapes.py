# SPDX-License-Identifier: MIT
"""Every layer is a kernel of that size."""

from compiler_gym_mlir.programs.builders import build
from compiler_gym_mlir.programs.shapes import LAYERS


def test_every_layer_can_be_built() -> None:
    for layers in LAYERS.values():
        for name, sizes in layers.values():
            assert "func.func @main" in build(name, sizes)


def test_layers_follow_one_another() -> None:
    assert LAYERS["resnet18"]["conv5_2"] == ("conv2d_nchw", (1, 512, 9, 9, 512, 3, 1))
    assert LAYERS["mobilenet"]["depthwise9"] == ("depthwise", (1, 9, 9, 1024, 3, 1))
    assert len(LAYERS["mlir-rl"]) == 19
