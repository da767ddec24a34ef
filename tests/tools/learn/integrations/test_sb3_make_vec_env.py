# SPDX-License-Identifier: MIT
"""Stable-Baselines3's own way of making environments, and what it logs of ours."""

from typing import Any

import pytest

import compiler_gym
from compiler_gym.tools.learn.integrations.learning import learning_vec
from compiler_gym.tools.learn.integrations.sb3 import as_sb3

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    # Gymnasium's word about the mode that the library tries first.
    pytest.mark.filterwarnings("ignore:.*render_mode:UserWarning"),
]


@pytest.fixture
def sb3() -> Any:
    return pytest.importorskip("stable_baselines3", reason="stable-baselines3 is missing")


@pytest.mark.parametrize("id", ["llvm-autophase-ic-v0", "llvm-v0"])
def test_its_own_make_vec_env_makes_our_environments(sb3: Any, id: str) -> None:
    make_vec_env = pytest.importorskip("stable_baselines3.common.env_util").make_vec_env
    assert id in compiler_gym.COMPILER_GYM_ENVS
    arguments = {"benchmark": "cbench-v1/crc32", "max_episode_steps": 4}
    envs = make_vec_env(id, n_envs=2, env_kwargs=arguments)
    try:
        model = sb3.PPO("MlpPolicy", envs, device="cpu", n_steps=8, batch_size=16, seed=0)
        model.learn(32)
        assert len(model.ep_info_buffer) == 8
        assert {episode["l"] for episode in model.ep_info_buffer} == {4}
    finally:
        envs.close()


def test_the_rewards_of_episodes_are_logged(sb3: Any) -> None:
    envs = as_sb3(learning_vec(2, benchmark="cbench-v1/crc32"))
    try:
        model = sb3.PPO("MlpPolicy", envs, device="cpu", n_steps=64, batch_size=32, seed=0)
        model.learn(128)
        episodes = list(model.ep_info_buffer)
        assert episodes
        assert all({"r", "l", "t"} <= episode.keys() for episode in episodes)
        assert any(episode["r"] != 0 for episode in episodes)
    finally:
        envs.close()
