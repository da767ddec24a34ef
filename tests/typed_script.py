# SPDX-License-Identifier: MIT
# pyright: strict
"""A user's first script, which type checkers read: tests/test_registration.py runs it, too."""

import compiler_gym
from compiler_gym.wrappers import TimeLimit

with compiler_gym.make(
    "llvm-v0", benchmark="cbench-v1/crc32", reward_space="IrInstructionCountOz"
) as env:
    observation, info = env.reset(seed=0)
    print(len(env.action_space.names), env.action_space["sroa"])
    total = 0.0
    for name in ("sroa", "early-cse", "simplifycfg"):
        observation, reward, terminated, truncated, info = env.step(env.action_space[name])
        total += reward or 0.0
        if terminated or truncated:
            print(info["error_details"])
    observation, reward, *_ = env.step(env.action_space.sample())
    score = env.episode_reward
    if score is not None:
        print(f"{score:.2f}", env.observation["IrInstructionCount"])
    print(env.commandline())
    TimeLimit(env, 10).reset()
