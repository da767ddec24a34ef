# SPDX-License-Identifier: MIT
# A tutorial is written as you would in a notebook, and its libraries are partially typed:
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false
# %% [markdown]
# # Write a wrapper and a reward
#
# This tutorial shows you how to study your own question: a *reward* changes the goal, and a
# *wrapper* changes the course of an episode. Both are small classes.

# %%
import matplotlib.pyplot as plt

import compiler_gym
from compiler_gym.spaces import Reward
from compiler_gym.wrappers import CompilerEnvWrapper, TimeLimit

# %% [markdown]
# ## A reward
#
# Small code is good, but not at any price: we want few instructions *and* few branches.
# A reward names the observations it needs (`observation_spaces`). `start` receives them at reset;
# `update` receives them after each action and returns the reward.


# %%
class SmallAndStraight(Reward):
    """Instructions saved, and five more for each basic block removed."""

    def __init__(self):
        super().__init__("SmallAndStraight", observation_spaces=["AutophaseDict"])

    def cost(self, counts):
        return counts["TotalInsts"] + 5 * counts["TotalBlocks"]

    def start(self, observations, observation_view):
        self.before = self.cost(observations[0])

    def update(self, actions, observations, observation_view):
        saved, self.before = self.before - self.cost(observations[0]), self.cost(observations[0])
        return float(saved)


env = compiler_gym.make("llvm-v0", benchmark="cbench-v1/sha")
env.reward.add_space(SmallAndStraight())
env.reward_space = "SmallAndStraight"
env.reset()
for name in ("sroa", "simplifycfg"):
    print(name, "earns", env.step(env.action_space[name])[1])

# %% [markdown]
# ## A wrapper
#
# A wrapper is an environment around another environment. Its `handle_step` handles every step.
# This one ends an episode after three actions in a row without a reward.


# %%
class GiveUp(CompilerEnvWrapper):
    """Truncates an episode after `patience` actions without a reward."""

    def __init__(self, env, patience=3):
        super().__init__(env)
        self.patience, self.idle = patience, 0

    def episode_began(self):
        super().episode_began()
        self.idle = 0

    def handle_step(self, asked):
        seen, reward, terminated, truncated, info = super().handle_step(asked)
        self.idle = 0 if reward else self.idle + 1
        return seen, reward, terminated, truncated or self.idle >= self.patience, info


# %% [markdown]
# Wrappers can be combined: a `TimeLimit` around ours limits the length in any case.
# A random agent plays with and without our wrapper, with the same seeds.


# %%
def play(env, seed):
    env.reset(seed=seed)
    env.action_space.seed(seed)
    earned, ended = [0.0], False
    while not ended:
        _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        earned.append(earned[-1] + reward)
        ended = terminated or truncated
    return earned


impatient = [play(TimeLimit(GiveUp(env), 60), seed) for seed in range(4)]
patient = [play(TimeLimit(env, 60), seed) for seed in range(4)]
for name, games in (("with", impatient), ("without", patient)):
    print(f"actions taken {name} GiveUp:", [len(one) - 1 for one in games])

# %%
plt.figure(figsize=(7, 3.2), layout="constrained")
for long, short in zip(patient, impatient, strict=True):
    (line,) = plt.step(range(len(long)), long, where="post", alpha=0.35)
    plt.step(range(len(short)), short, where="post", color=line.get_color(), linewidth=2)
    plt.plot(len(short) - 1, short[-1], "o", color=line.get_color())
plt.xlabel("actions")
plt.ylabel("earned")
plt.title("a dot is where GiveUp ended the episode; pale is what would have come", fontsize=10)
plt.show()

# %%
env.close()

# %% [markdown]
# **Next:** [validate and reduce a miscompile](miscompile.md), or
# [all wrappers](../guide/wrappers.md).
