# SPDX-License-Identifier: MIT
# A tutorial is written as you would in a notebook, and its libraries are partially typed:
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false
# %% [markdown]
# # Write a wrapper and a reward
#
# Your question is rarely the one that came in the box. You change what is earned with a *reward*,
# and how an episode goes with a *wrapper*. Both are small classes.

# %%
import matplotlib.pyplot as plt

import compiler_gym
from compiler_gym.spaces import Reward
from compiler_gym.wrappers import CompilerEnvWrapper, TimeLimit

# %% [markdown]
# ## A reward
#
# Small code is good, but not at any price: we want few instructions *and* few branches.
# A reward names what it wants to see (`observation_spaces`). `start` gets that at reset,
# `update` after each action, and returns what was earned.


# %%
class SmallAndStraight(Reward):
    """Instructions saved, and five more for each basic block that went."""

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
# An environment goes in, an environment comes out. `handle_step` sees every step.
# This one ends an episode when nothing was earned three times in a row.


# %%
class GiveUp(CompilerEnvWrapper):
    """Truncate after `patience` actions that earned nothing."""

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
# Wrappers stack. A `TimeLimit` around ours is the emergency brake.
# We let a random agent play with and without patience, each with the same seed.


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
