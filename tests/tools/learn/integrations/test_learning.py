# SPDX-License-Identifier: MIT
"""A learning environment is one vector in, one number out."""

import math
from typing import Any, cast

import gymnasium
import numpy as np
import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.tools.learn.integrations.learning import (
    Recipe,
    learning_env,
    learning_vec,
    plain_env,
)

FEW = ("sroa", "simplifycfg", "instcombine")


def test_a_learning_environment_is_ready_for_a_network() -> None:
    recipe = Recipe(actions=FEW, episode_length=3, history=2, no_effect_penalty=0.5)
    with cast(Any, learning_env(recipe, benchmark="cbench-v1/crc32")) as env:
        seen, _ = env.reset(seed=1)
        assert env.observation_space.shape == seen.shape == (56 + 2 * 4 + 1,)
        assert seen.dtype == np.float32
        assert env.action_space.n == 3
        rewards: list[float] = []
        truncated = False
        for _ in range(3):
            seen, reward, _, truncated, _ = env.step(0)
            assert env.observation_space.contains(seen)
            rewards.append(float(reward))
        assert truncated
        assert rewards[0] > 0
        assert rewards[1:] == [-0.5, -0.5]
        assert env.action_masks().tolist() == [False, True, True]


def test_a_recipe_may_offer_sequences_levels_and_an_end_and_earn_what_is_saved() -> None:
    recipe = Recipe(
        action_space="PassesAndPipelines",
        macros={"clean": ["sroa", "instcombine"]},
        actions=("clean", "-Oz"),
        ends=True,
        savings="IrInstructionCount",
        episode_length=5,
        history=1,
    )
    with cast(Any, learning_env(recipe, benchmark="cbench-v1/crc32")) as env:
        env.reset()
        assert env.action_space.names == ["clean", "-Oz", "end-of-episode"]
        first = env.unwrapped.observation["IrInstructionCount"]
        _, cleaned, *_ = env.step(0)
        assert env.unwrapped.commandline().count("instcombine") == 1
        _, optimised, terminated, *_ = env.step(1)
        last = env.unwrapped.observation["IrInstructionCount"]
        assert float(cleaned) + float(optimised) == pytest.approx(math.log(first / last))
        assert not terminated
        assert env.step(2)[1:3] == (0, True)


def test_a_recipe_may_earn_what_the_best_state_saves() -> None:
    recipe = Recipe(actions=("sroa", "reg2mem"), savings="IrInstructionCount", keeps_best=True)
    with cast(Any, learning_env(recipe, benchmark="cbench-v1/crc32")) as env:
        env.reset()
        first = env.unwrapped.observation["IrInstructionCount"]
        _, saved, *_ = env.step(0)
        assert float(saved) == pytest.approx(
            math.log(first / env.unwrapped.observation["IrInstructionCount"])
        )
        assert env.step(1)[1] == 0


def test_a_learning_vector_samples_programs_and_shares_a_cache() -> None:
    with TranspositionCache() as cache:
        programs = ["cbench-v1/crc32", "cbench-v1/sha"]
        recipe = Recipe(actions=FEW, episode_length=2, history=0)
        with learning_vec(2, recipe, sampler=programs, cache=cache) as vector:
            vector.reset(seed=1)
            seen = {str(env.unwrapped.benchmark) for env in vector.envs}
            for _ in range(10):
                *_, infos = vector.step([0, 1])
                seen |= {str(uri) for uri in infos.get("benchmark", []) if uri}
            assert seen == {f"benchmark://{program}" for program in programs}
        assert cache.statistics.hit_rate > 0.5


def test_a_plain_environment_has_floats_and_spaces_of_gymnasium_alone() -> None:
    made: Any = gymnasium.make("compiler_gym:llvm-autophase-ic-v0", max_episode_steps=4)
    with cast(Any, plain_env(made)) as env:
        seen, _ = env.reset(seed=0, options={"benchmark": "cbench-v1/crc32"})
        assert seen.dtype == np.float32
        assert seen.tolist() == made.unwrapped.observation["Autophase"].tolist()
        assert env.observation_space.contains(seen)
        for space in (
            env.observation_space,
            env.action_space,
            env.get_wrapper_attr("reward_space"),
        ):
            assert type(space).__module__.startswith("gymnasium.spaces")
        with cast(Any, gymnasium.make(env.spec)) as again:  # as Minari recovers an environment
            assert again.observation_space == env.observation_space
            assert again.action_space == env.action_space


def test_a_text_cannot_be_a_vector_of_floats() -> None:
    with (
        cast(Any, gymnasium.make("compiler_gym:llvm-v0", observation_space="Ir")) as env,
        pytest.raises(InvalidParameterError, match="observations must be numbers of a fixed shape"),
    ):
        plain_env(env)
