# SPDX-License-Identifier: MIT
"""Stable-Baselines3 learns, with and without masks."""

import warnings
from typing import Any

import numpy as np
import pytest

from compiler_gym.cli.kit import library as _library
from compiler_gym.errors import EnvironmentNotSupported, InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.integrations.learning import Recipe, learning_vec
from compiler_gym.tools.learn.integrations.sb3 import as_sb3
from compiler_gym.vector import CompilerVectorEnv
from compiler_gym.wrappers import TimeLimit

FEW = ("sroa", "simplifycfg", "instcombine", "early-cse", "dce", "gvn", "mem2reg", "inline")


def vector(mode: str = "SameStep") -> CompilerVectorEnv:
    def make() -> Any:
        env = FakeEnv(
            observation_space="vector", reward_space="number", benchmark="benchmark://fake-v0/7"
        )
        return TimeLimit(env, 3)

    return CompilerVectorEnv([make, make], autoreset_mode=mode)


@pytest.mark.slow
def test_a_vector_follows_the_librarys_protocol() -> None:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is missing")
    envs = as_sb3(vector())
    try:
        envs.seed(3)
        assert envs.reset()[:, 0].tolist() == [7, 7]
        envs.step(np.array([0, 1]))
        seen, rewards, dones, infos = envs.step(np.array([0, 1]))
        assert rewards.dtype == np.float32
        assert not dones.any()
        seen, rewards, dones, infos = envs.step(np.array([0, 1]))
        assert dones.all()
        assert seen[:, 0].tolist() == [7, 7]
        assert [info["terminal_observation"][0] for info in infos] == [10, 56]
        assert infos[0]["TimeLimit.truncated"] is True
        assert envs.env_is_wrapped(TimeLimit) == [True, True]
        assert envs.get_attr("max_episode_steps", 0) == [3]
        assert envs.env_method("commandline") == ["", ""]
    finally:
        envs.close()


@pytest.mark.slow
def test_another_autoreset_mode_is_refused() -> None:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is missing")
    with vector("NextStep") as nexts, pytest.raises(InvalidParameterError, match="SameStep"):
        as_sb3(nexts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["PPO", "MaskablePPO"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ppo_learns_a_program(name: str) -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is missing")
    contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is missing")
    recipe = Recipe(actions=FEW, episode_length=6)
    envs = as_sb3(learning_vec(4, recipe, benchmark="cbench-v1/crc32"))
    try:
        make = getattr(sb3 if name == "PPO" else contrib, name)
        arguments = {"n_steps": 48, "batch_size": 48, "learning_rate": 3e-3, "seed": 1}
        model = make("MlpPolicy", envs, device="cpu", **arguments)
        model.learn(1536)
        seen, total = envs.reset(), 0.0
        for _ in range(6):
            masks = np.stack(envs.env_method("action_masks"))
            chosen = {"action_masks": masks} if name == "MaskablePPO" else {}
            actions, _ = model.predict(seen, deterministic=True, **chosen)
            seen, rewards, _, _ = envs.step(actions)
            total += float(rewards.mean())
        assert total > 0.75
    finally:
        envs.close()


@pytest.mark.slow
def test_an_evaluation_does_not_warn_that_monitor_is_missing() -> None:
    contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is missing")
    evaluation = pytest.importorskip("sb3_contrib.common.maskable.evaluation")
    envs = as_sb3(learning_vec(1, Recipe(actions=FEW), benchmark="cbench-v1/crc32"))
    try:
        model = contrib.MaskablePPO("MlpPolicy", envs, n_steps=8, device="cpu", seed=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            score, _ = evaluation.evaluate_policy(model, envs, n_eval_episodes=1)
        assert -1 < score < 1.2
    finally:
        envs.close()


def test_a_missing_library_names_the_package_to_install() -> None:
    with pytest.raises(EnvironmentNotSupported, match=r"pip install 'compiler-gym-next\[rl\]'"):
        _library.library("no_such_library_at_all", "rl")
