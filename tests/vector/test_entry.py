# SPDX-License-Identifier: MIT
"""Where Gymnasium finds the vector form of an environment."""

import compiler_gym
from compiler_gym.wrappers import TimeLimit


def test_make_vec_takes_wrappers_and_arguments_of_both() -> None:
    with compiler_gym.make_vec(
        "llvm-autophase-ic-v0",
        num_envs=2,
        wrappers=[lambda env: TimeLimit(env, 2)],
        autoreset_mode="SameStep",
        benchmark="cbench-v1/crc32",
    ) as vector:
        vector.reset(seed=1)
        vector.step([0, 1])
        assert "final_obs" in vector.step([0, 1])[-1]
