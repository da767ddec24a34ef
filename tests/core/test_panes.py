# SPDX-License-Identifier: MIT
import pytest

import compiler_gym
from compiler_gym.core import cost_panes
from compiler_gym.core.panes import panes_from_spaces
from compiler_gym.tables import Cost, Level
from compiler_gym.testing import FakeEnv


def test_views_follow_from_spaces_by_default() -> None:
    with FakeEnv() as env:
        panes = panes_from_spaces(env.observation, env.reward.spaces.values())
        assert env.panes == panes
    assert panes.text is not None
    assert panes.text.observation == "digits"
    assert [cost.observation for cost in panes.costs] == ["number"]
    assert {"vector", "packed", "floats"} == set(panes.vectors)
    assert panes.running == {"clock", "process", "file"}


@pytest.mark.parametrize("id", ["llvm-v0", "gcc-v0", "llvm-inline-v0"])
def test_every_name_is_an_observation_of_its_environment(id: str) -> None:
    with compiler_gym.make(id) as env:
        panes, known = env.panes, set(env.observation)
    texts = [pane for pane in (panes.text, panes.assembly, panes.source) if pane]
    assert {pane.observation for pane in texts} <= known
    assert set(panes.vectors) <= known
    assert panes.running & known
    for cost in panes.costs:
        assert cost.observation in known
        assert set(cost.baselines.values()) <= known
    for graph in panes.graphs:
        assert known.issuperset(graph.observations)


def test_costs_of_a_table_come_with_their_levels() -> None:
    levels = (Level("_os", "-Os", ""), Level("Oz", "Oz", ""), Level("X", "Oz", "", label="mine"))
    cost = Cost(
        name="size", observation="size_bytes", unit="bytes", platform_dependent=False,
        levels=levels,
    )  # fmt: skip
    (pane,) = cost_panes([cost], {"size_bytes": "size"}, at_once=["size_bytes"])
    assert (pane.title, pane.unit, pane.at_once) == ("size", "bytes", True)
    assert pane.baselines == {"-Os": "size_os", "-Oz": "sizeOz", "mine": "sizeX"}
