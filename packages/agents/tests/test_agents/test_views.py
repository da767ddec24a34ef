# SPDX-License-Identifier: MIT
"""What is seen of a program comes from its environment's panes, or from its spaces."""

import pytest

import compiler_gym
from compiler_gym.errors import ObservationError, UnknownNameError
from compiler_gym.testing import FakeEnv
from compiler_gym_agents.views import Views, every_cost, measure_costs
from compiler_gym_agents.workbench import Workbench


def test_an_environment_without_panes_shows_its_text_and_its_cost() -> None:
    bench = Workbench(FakeEnv(reward_space="number", action_space="Safe"))
    try:
        bench.start()
        views = Views(bench)
        assert (measure_costs(bench.env), every_cost(bench.env)) == ({"number": 7}, {"number": 7})
        assert list(views.panes) == ["program"]
        assert not views.have_functions
        bench.apply([bench.env.action_space["double"]])
        assert [views.code("program", "", step) for step in (0, 1)] == ["7", "14"]
        assert next(views.changes()) == "number: 7 before, 14 after"
        assert views.value("vector", 100) == [14, 196, 1]
        assert views.value("digits", 1).startswith("1... (+1 characters); short ones: ")
        with pytest.raises(UnknownNameError, match="no view 'assembly'; there is program"):
            views.code("assembly", "", 0)
        with pytest.raises(UnknownNameError, match="no observation 'Digits': did you mean digits"):
            views.value("Digits", 100)
    finally:
        bench.close()


def test_a_value_without_a_json_form_is_refused_with_those_that_have_one() -> None:
    bench = Workbench(compiler_gym.make("llvm-ic-v0", benchmark="cbench-v1/crc32"))
    try:
        bench.start()
        with pytest.raises(ObservationError, match=r"such as .*Autophase"):
            Views(bench).value("Programl", 100)
    finally:
        bench.close()
