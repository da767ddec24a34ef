# SPDX-License-Identifier: MIT
"""Gymnasium's ``make`` gives what an agent learns from, ours what CompilerGym 0.2.5 documents."""

import copy
import logging
import pickle
import shutil

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import compiler_gym
from compiler_gym.core import env as environment
from compiler_gym.errors import InvalidParameterError

IDS = tuple(compiler_gym.COMPILER_GYM_ENVS)
FAST = ("llvm-v0", "gcc-v0")


def _needed(id: str) -> None:
    if id.startswith("gcc") and shutil.which("gcc") is None:
        pytest.skip("needs gcc")


@pytest.mark.parametrize(
    "id", [id if id in FAST else pytest.param(id, marks=pytest.mark.slow) for id in IDS]
)
def test_every_environment_passes_gymnasiums_check_without_a_word(id: str) -> None:
    _needed(id)
    with gymnasium.make(id).unwrapped as env:
        assert env.observation_space is not None
        check_env(env)  # any warning is an error here
        env.reset()
        assert isinstance(env.step(0)[1], float)


@pytest.mark.parametrize("id", FAST)
def test_spaces_missing_in_an_id_are_none_in_our_make(id: str) -> None:
    _needed(id)
    with compiler_gym.make(id) as env:
        assert env.observation_space is None
        assert env.reward_space is None
        assert env.spec is not None
        assert gymnasium.make(env.spec).unwrapped.observation_space is None
    with compiler_gym.make("llvm-ic-v0") as env:
        assert env.observation_space is None
        assert str(env.reward_space) == "IrInstructionCountOz"
    with gymnasium.make("llvm-ir-codesize-v0").unwrapped as env:
        assert str(env.get_wrapper_attr("reward_space")) == "ObjectTextSizeOz"


def test_a_step_without_a_reward_space_says_once_what_to_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    environment._say_once.cache_clear()  # pyright: ignore[reportPrivateUsage]  # once a process
    with caplog.at_level(logging.WARNING, "compiler_gym"), compiler_gym.make("llvm-v0") as env:
        env.reset()
        for _ in range(3):
            assert env.step(0)[1] is None
    said = [record.message for record in caplog.records if "reward space" in record.message]
    assert len(said) == 1
    assert "env.reward_space = " in said[0]


def test_render_prints_unasked_only_where_it_is_documented(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with gymnasium.make("llvm-v0").unwrapped as env:
        env.reset()
        assert env.render() is None
        for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            with twin:
                assert twin.render() is None
        assert not capsys.readouterr().out
    with compiler_gym.make("llvm-v0") as env:
        env.reset()
        env.render()
        with pickle.loads(pickle.dumps(env)) as twin:
            twin.render()
        assert capsys.readouterr().out.count("after 0 actions") == 2


def test_a_mode_that_there_is_not_is_refused_as_libraries_expect() -> None:
    for kind in (TypeError, InvalidParameterError):
        with pytest.warns(UserWarning, match="rgb_array"), pytest.raises(kind, match="rgb_array"):
            gymnasium.make("llvm-v0", render_mode="rgb_array")
