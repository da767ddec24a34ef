# SPDX-License-Identifier: MIT
import compiler_gym
from compiler_gym.explorer.describing import (
    environment_names,
    environment_of,
    first_reward,
    format_names,
    runs,
)
from compiler_gym.registration import compilers
from compiler_gym.testing import FakeEnv


def test_every_registered_environment_is_named_without_a_compiler() -> None:
    names = [one.id for one in environment_names()]
    assert names == [one.id for known in compilers().values() for one in known.environments]


def test_only_texts_can_be_pasted() -> None:
    assert [one.name for one in format_names("llvm-v0")] == ["C", "C++", "IR"]
    assert format_names("strange-v0") == []


def test_an_environment_that_says_nothing_of_views_has_those_of_its_spaces() -> None:
    with FakeEnv() as env:
        found = environment_of("fake-v0", env)
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
        found = environment_of("gcc-v0", env)
    spaces = {space.name: space for space in found.action_spaces}
    assert spaces["Categorical"].settings
    assert spaces["Categorical"].actions[0].name == "-O0"
    assert len(spaces["Choices"].shape) == len(spaces["Choices"].parts) > 0


def test_what_is_made_of_a_run_is_a_run() -> None:
    with compiler_gym.make("llvm-v0") as env:
        env.observation.add_derived_space("Halved", "Runtime")
        assert runs(env, "Halved")
        assert runs(env, "RuntimeInstructionsOz")
        assert not runs(env, "AutophaseDict")
        assert first_reward("llvm-v0", env) == "IrInstructionCountOz"
    with compiler_gym.make("llvm-codesize-v0") as env:
        assert first_reward("llvm-codesize-v0", env) == "ObjectTextSizeOz"
    with compiler_gym.make("loop_tool-v0") as env:  # made with a reward that is measured
        assert first_reward("loop_tool-v0", env) == "flops_deterministic"
