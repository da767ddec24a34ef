# SPDX-License-Identifier: MIT
import compiler_gym
from compiler_gym.registration import compilers
from compiler_gym.testing import FakeEnv
from compiler_gym_explorer.describing import (
    describe_environment,
    environment_names,
    format_names,
)


def test_every_registered_environment_is_named_without_a_compiler() -> None:
    names = [one.id for one in environment_names()]
    assert names == [one.id for known in compilers().values() for one in known.environments]


def test_only_texts_can_be_pasted() -> None:
    assert [one.name for one in format_names("llvm-v0")] == ["C", "C++", "IR"]
    assert format_names("strange-v0") == []


def test_an_environment_that_says_nothing_of_views_has_those_of_its_spaces() -> None:
    with FakeEnv() as env:
        found = describe_environment("fake-v0", env)
        assert found.has_text
        assert not found.has_assembly
        assert [cost.name for cost in found.costs] == ["number"]
        assert found.costs[0].at_once
        assert "vector" in [vector.name for vector in found.vectors]
        assert found.graphs == []
        running = [one.name for one in found.observation_spaces if one.runs_program]
        assert running == ["clock", "process", "file"]
        assert found.default_reward == "number"


def test_actions_are_listed_as_describe_lists_them() -> None:
    with compiler_gym.make("gcc-v0") as env:
        found = describe_environment("gcc-v0", env)
    spaces = {space.name: space for space in found.action_spaces}
    assert spaces["Categorical"].settings
    assert spaces["Categorical"].actions[0].name == "-O0"
    assert len(spaces["Choices"].shape) == len(spaces["Choices"].parts) > 0
