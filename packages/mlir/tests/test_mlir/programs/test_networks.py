# SPDX-License-Identifier: MIT
"""Networks are those of the papers: their layers, their arithmetic, and what they compute."""

import pytest

import compiler_gym
from compiler_gym_mlir.programs.builders import build
from test_mlir.schedules import scheduled


@pytest.mark.parametrize(
    ("name", "convolutions", "products", "giga"),
    [("resnet18", 20, 1, 1.81), ("vgg16", 13, 3, 15.47), ("mobilenet_v2", 52, 1, 0.30)],
)
def test_a_network_has_the_multiplications_of_its_paper(
    name: str, convolutions: int, products: int, giga: float
) -> None:
    operations = scheduled(build(name, (224,))).operations.values()
    kinds = [one.name for one in operations]
    assert sum("conv_2d" in kind for kind in kinds) == convolutions
    assert kinds.count("linalg.matmul") == products
    work = [one for one in operations if "conv" in one.name or "matmul" in one.name]
    assert sum(one.iterations for one in work) / 1e9 == pytest.approx(giga, rel=0.02)


def test_a_network_computes_the_right_values() -> None:
    with compiler_gym.make("mlir-v0") as env:
        env.reset(benchmark="linalg-v0/resnet18/8")
        assert env.observation["IsRunnable"]
