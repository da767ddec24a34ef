# SPDX-License-Identifier: MIT
"""RLlib makes the environment by name, in processes of its own, and trains on it."""

from typing import Any

import gymnasium
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.integrations.learning import Recipe
from compiler_gym.tools.learn.integrations.rllib import ppo_config, rllib_env

FEW = ("sroa", "simplifycfg", "instcombine", "early-cse", "gvn", "mem2reg")


def test_settings_become_an_environment_with_plain_actions() -> None:
    settings = {"actions": FEW, "episode_length": 2, "history": 0}
    with rllib_env({**settings, "programs": ["cbench-v1/crc32", "cbench-v1/sha"]}) as env:
        assert type(env.action_space) is gymnasium.spaces.Discrete
        assert env.action_space.n == len(FEW)
        seen = set[str]()
        for seed in range(12):
            observation, _ = env.reset(seed=seed)
            assert env.observation_space.contains(observation)
            seen.add(str(env.get_wrapper_attr("benchmark")))
        assert seen == {"benchmark://cbench-v1/crc32", "benchmark://cbench-v1/sha"}
        ends = [env.step(env.action_space.sample())[3] for _ in range(2)]
        assert ends == [False, True]


@pytest.mark.parametrize("programs", ["cbench-v1/crc32", []])
def test_programs_that_are_not_a_list_are_refused(programs: Any) -> None:
    with pytest.raises(InvalidParameterError, match="must be a list of addresses"):
        rllib_env({"programs": programs})


def test_a_negative_number_of_env_runners_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="env_runners must be at least 0"):
        ppo_config(env_runners=-1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_rllib_trains_in_its_own_process() -> None:
    ray: Any = pytest.importorskip("ray", reason="ray is missing")
    pytest.importorskip("torch", reason="torch is missing")
    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        recipe = Recipe(actions=FEW, episode_length=5)
        config = ppo_config(recipe, programs=["cbench-v1/crc32"], env_runners=1)
        config.training(train_batch_size_per_learner=200, minibatch_size=50, num_epochs=4)
        algorithm = config.build_algo()
        try:
            results = [algorithm.train() for _ in range(2)]
        finally:
            algorithm.stop()
        runners = results[-1]["env_runners"]
        assert runners["num_env_steps_sampled_lifetime"] >= 400
        assert runners["episode_len_mean"] == 5
        assert 0 < runners["episode_return_mean"] < 2
        learner = results[-1]["learners"]["default_policy"]
        assert learner["num_module_steps_trained_lifetime"] > 0
    finally:
        ray.shutdown()
