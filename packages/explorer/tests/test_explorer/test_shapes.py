# SPDX-License-Identifier: MIT
from typing import Any

import gymnasium
import numpy as np
import pytest

import compiler_gym
from compiler_gym import spaces
from compiler_gym.spaces import value_from_json
from compiler_gym_explorer.records import Shape
from compiler_gym_explorer.shapes import describe_shape

from .conftest import Client


def beginning(shape: Shape) -> Any:
    """Return what a form begins with: as the page does."""
    first = {
        "choice": lambda: shape.values[0],
        "number": lambda: shape.low or 0,
        "text": lambda: "",
        "order": lambda: [int(shape.low or 0) + i for i in range(shape.least)],
        "list": lambda: [beginning(shape.items[0]) for _ in range(shape.least)],
        "case": lambda: {shape.name: shape.items[0].name},
    }
    if shape.kind in first:
        return first[shape.kind]()
    if shape.in_order:
        return [beginning(one) for one in shape.items]
    return {one.name: beginning(one) for one in shape.items}


def a_space(name: str) -> Any:
    order = spaces.Scalar("loop", min=1, max=3, dtype=int)
    return {
        "numbers": gymnasium.spaces.MultiDiscrete([3, 2]),
        "bits": gymnasium.spaces.MultiBinary(4),
        "box": gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float64),
        "pair": gymnasium.spaces.Tuple(
            [gymnasium.spaces.Discrete(4, start=2), spaces.Scalar("on", dtype=bool)]
        ),
        "table": spaces.Dict(
            [
                ("move", spaces.NamedDiscrete(["tile", "stop"], "moves")),
                ("order", spaces.Permutation("order", order)),
            ],
            "table",
        ),
        "several": spaces.SpaceSequence(
            "several", spaces.Scalar("n", min=1, max=9, dtype=int), size_range=(2, 4)
        ),
        "text": spaces.Sequence("text", dtype=str),
    }[name]


@pytest.mark.parametrize("name", ["numbers", "bits", "box", "pair", "table", "several", "text"])
def test_the_initial_values_of_a_form_are_an_action(name: str) -> None:
    space = a_space(name)
    shape = describe_shape(space)
    assert shape is not None
    assert shape.kind != "other"
    assert value_from_json(space, beginning(shape)) in space


def test_actions_with_names_need_no_form() -> None:
    assert describe_shape(spaces.NamedDiscrete(["tile", "stop"], "moves")) is None


def test_an_unknown_space_is_requested_as_json() -> None:
    shape = describe_shape(gymnasium.spaces.Graph(gymnasium.spaces.Discrete(2), None))
    assert shape is not None
    assert shape.kind == "other"


def test_parts_are_called_what_the_space_calls_them() -> None:
    with compiler_gym.make("llvm-v0", action_space="Codegen") as env:
        shape = describe_shape(env.action_space)
    assert shape is not None
    regalloc = next(one for one in shape.items if one.name == "regalloc")
    assert (regalloc.options, regalloc.values) == (["default", "basic"], [0, 1])
    assert regalloc.description


def test_a_case_with_its_values_is_an_action_that_is_replayed(client: Client) -> None:
    asked = {"benchmark": "cbench-v1/crc32", "action_space": "Parameters"}
    with client.open(**asked) as session:
        space = session.get("/nodes/0/actions")
        licm = next(one for one in space["form"]["items"] if one["name"] == "licm")
        assert "allowspeculation" in [one["name"] for one in licm["items"]]
        action = {"pass": "licm", "allowspeculation": False}
        nodes = session.step({"pass": "mem2reg"}, action)
        assert nodes[1]["action"] == action
        export = session.get("/nodes/2/export")
        assert "no-allowspeculation" in export["commandline"]
        with client.open(
            episode=client.post("/api/import", {"text": export["fragment"]}, 200)["episodes"][0]
        ) as again:
            assert again.record["at"] == 2
        refused = session.step({"pass": "licm", "allowspeculation": 7}, status=400)
        assert refused["type"] == "InvalidActionError"
