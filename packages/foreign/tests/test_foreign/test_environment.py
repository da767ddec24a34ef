# SPDX-License-Identifier: MIT
"""The environment over a program: made from a file, from an id, and pickled."""

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest

import compiler_gym
from compiler_gym import registration
from compiler_gym.errors import CompilerGymWarning, InvalidParameterError, PluginError
from compiler_gym_foreign import ServiceEnv

PROGRAM = [
    sys.executable,
    "-m",
    "compiler_gym.service.serve",
    "compiler_gym.testing.fakes:FakeSession",
]
DECLARED = f"""
name = "fake-program"
service = {PROGRAM}
benchmark = "benchmark://numbers-v0/seven"
state = "digits"
rewards = [{{name = "Less", cost = "number"}}]
[[environments]]
id = "fake-program-v0"
observation_space = "number"
reward_space = "Less"
[[environments]]
id = "fake-program-menu-v0"
action_space = "Menu"
[[datasets]]
name = "benchmark://numbers-v0"
folder = "numbers"
suffix = ".num"
"""


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "seven.num").write_text("7")
    (tmp_path / "fake.toml").write_text(DECLARED)
    return tmp_path / "fake.toml"


@pytest.fixture
def _fresh_catalogue() -> Iterator[None]:
    registration.compilers.cache_clear()
    yield
    registration.compilers.cache_clear()
    for id in [id for id in gymnasium.registry if "fake-program" in id]:
        del gymnasium.registry[id]


def test_a_file_alone_makes_an_environment(declared: Path) -> None:
    with compiler_gym.make(str(declared)) as env:
        assert env.spec is not None
        assert env.spec.id == "fake-program-v0"
        assert env.reset()[0] == 7
        assert env.step(env.action_space["add"])[:2] == (8, -1.0)
        assert list(env.datasets.benchmark_uris()) == ["benchmark://numbers-v0/seven"]
        assert list(env.reward.spaces) == ["Less"]
        assert env.state_observation == "digits"
        with pickle.loads(pickle.dumps(env)) as copy:
            assert copy.observation["number"] == 8


def test_a_program_alone_makes_an_environment(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("5")
    with compiler_gym.make(
        "mine-v0", service=PROGRAM, observation_space="number", reward_space="number"
    ) as env:
        assert env.reset(benchmark=f"file://{tmp_path}/n")[0] == 5
        assert env.step(env.action_space["double"])[:2] == (10, -5.0)
        assert env.spec is not None
        assert env.spec.id == "mine-v0"
    assert "mine-v0" not in gymnasium.registry


@pytest.mark.usefixtures("_fresh_catalogue")
def test_a_folder_of_declarations_is_part_of_the_catalogue(
    declared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_PLUGINS", str(declared.parent))
    (declared.parent / "broken.toml").write_text("x")
    with pytest.warns(
        CompilerGymWarning, match=r"skipping a plug-in: .*broken.toml is not a valid"
    ):
        assert "fake-program-menu-v0" in list(registration.COMPILER_GYM_ENVS)
    with compiler_gym.make("fake-program-menu-v0") as env:
        assert env.episode.selection.action_space_name == "Menu"
    with compiler_gym.make("fake-program-v0", service=[*PROGRAM, "version=other"]) as env:
        assert env.compiler_version == "other"
    assert next(iter(registration.compilers())) != "fake-program"


def test_a_service_next_to_an_id_of_another_compiler_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="is an environment of llvm: use another id"):
        compiler_gym.make("llvm-v0", service=["./x"])


def test_neither_a_program_nor_a_declaration_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="pass service"):
        ServiceEnv()
    with pytest.raises(InvalidParameterError, match="must be 'process'"):
        ServiceEnv(PROGRAM, isolation="in-process")


def test_a_reward_from_an_unknown_observation_is_refused(declared: Path) -> None:
    declared.write_text(DECLARED.replace('cost = "number"', 'cost = "weight"'))
    with pytest.raises(PluginError, match="the reward Less needs the observation 'weight'"):
        compiler_gym.make(str(declared))
