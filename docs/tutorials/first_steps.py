# SPDX-License-Identifier: MIT
# Matplotlib types its arguments partially:
# pyright: reportUnknownMemberType=false
# %% [markdown]
# # First steps
#
# This tutorial shows you how to create an environment, take a few steps, and see their effect.
# You need the library, and matplotlib for the picture
# (`pip install 'compiler-gym-next[plot]'`). It takes seconds.

# %%
import matplotlib.pyplot as plt

import compiler_gym

# %% [markdown]
# An environment is a compiler that waits for your decisions.
# This one optimises `crc32`, a small C program that comes with the library.
# Its observation is 56 numbers about the program (`Autophase`), and its reward is the saving,
# relative to that of `clang -Oz`.

# %%
env = compiler_gym.make(
    "llvm-v0",
    benchmark="cbench-v1/crc32",
    observation_space="Autophase",
    reward_space="IrInstructionCountOz",
)
observation, info = env.reset()
print(observation.shape, env.observation["IrInstructionCount"], "instructions")

# %% [markdown]
# An action is an LLVM pass. There are many, and each has a name.

# %%
print(env.action_space.n, "actions, such as", env.action_space.names[:5])

# %% [markdown]
# `sroa` moves variables from memory into registers. It is a good first move.

# %%
observation, reward, terminated, truncated, info = env.step(env.action_space["sroa"])
print(f"reward {reward:.2f}:", env.observation["IrInstructionCount"], "instructions are left")

# %% [markdown]
# A total reward of 1 means that the program is as small as `-Oz` makes it. Let us run more passes.

# %%
passes = ["early-cse", "simplifycfg", "instcombine", "gvn", "simplifycfg", "globaldce"]
sizes = [env.observation["IrInstructionCountO0"], env.observation["IrInstructionCount"]]
for name in passes:
    env.step(env.action_space[name])
    sizes.append(env.observation["IrInstructionCount"])
print(f"earned {env.episode_reward:.2f} of what -Oz saves, with {len(env.actions)} passes")

# %% [markdown]
# `commandline()` returns a command that produces the same module with LLVM's own `opt`.

# %%
print(env.commandline())

# %% [markdown]
# The picture shows the size after each pass. Where the line is flat, a pass found nothing to do.

# %%
oz = env.observation["IrInstructionCountOz"]
plt.figure(figsize=(7, 3.4), layout="constrained")
plt.step(range(len(sizes)), sizes, where="post", marker="o")
plt.axhline(oz, color="tab:red", linestyle="--")
plt.text(len(sizes) - 1, oz - 12, f"-Oz: {oz}", color="tab:red", ha="right", va="top")
plt.xticks(range(len(sizes)), ["reset", "sroa", *passes], rotation=20)
plt.ylabel("instructions")
plt.ylim(bottom=200)
plt.show()

# %%
env.close()

# %% [markdown]
# **Next:** [look into a program](look_into_a_program.md).
