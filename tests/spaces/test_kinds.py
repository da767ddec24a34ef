# SPDX-License-Identifier: MIT
"""A few words say what a value of any space is, and never a bound of nineteen digits."""

import gymnasium
import numpy as np
import pytest

import compiler_gym
from compiler_gym import spaces
from compiler_gym.core import describe

LONGEST = 50
BIT = gymnasium.spaces.Discrete(2)


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (spaces.Scalar("cost", 0, 2**63 - 2, int), "integer"),
        (spaces.Scalar("share", 0, 1, float), "number"),
        (spaces.Box(0, 9, name="counts", shape=(3, 4), dtype=np.int64), "int64[3, 4]"),
        (spaces.FreeBox(-128, 127, "bytes", (-1,), np.int8), "int8[n]"),
        (spaces.Sequence("text", dtype=str), "text"),
        (spaces.Sequence("times", dtype=float), "list of numbers"),
        (spaces.Opaque("facts", "json"), "json"),
        (gymnasium.spaces.Discrete(7), "one of 7"),
        (gymnasium.spaces.MultiDiscrete([2, 2]), "2 choices"),
        (gymnasium.spaces.MultiBinary(3), "3 choices"),
        (gymnasium.spaces.Text(5), "text"),
        (
            gymnasium.spaces.Dict(dict.fromkeys("abc", BIT)),
            "3 values: a, b, ...",
        ),
        (gymnasium.spaces.Tuple([gymnasium.spaces.Discrete(2)]), "1 values"),
        (gymnasium.spaces.Graph(gymnasium.spaces.Discrete(2), None), "graph"),
    ],
)
def test_a_space_in_words(space: object, kind: str) -> None:
    assert spaces.space_kind(space) == kind


@pytest.mark.parametrize("id", ["llvm-v0", "gcc-v0", "mlir-v0", "loop_tool-v0"])
def test_every_space_of_an_environment_has_a_short_kind(id: str) -> None:
    with compiler_gym.make(id) as env:
        described = describe(id, env)
    for space in described["observation_spaces"] + described["action_spaces"]:
        assert 0 < len(space["kind"]) <= LONGEST
        assert "9223372036854775806" not in space["kind"]
