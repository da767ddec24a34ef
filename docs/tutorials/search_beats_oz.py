# SPDX-License-Identifier: MIT
# A tutorial is written as you would in a notebook, and its libraries are partially typed:
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# %% [markdown]
# # Search beats -Oz
#
# This tutorial shows you how to find a list of passes that suits one program better than `-Oz`,
# which is the same list for every program. A search needs no learning: it tries lists and keeps
# the better ones.

# %%
import matplotlib.pyplot as plt

import compiler_gym
from compiler_gym.search import Budget, run_search

PROGRAMS = ["cbench-v1/crc32", "cbench-v1/bitcount", "cbench-v1/qsort", "cbench-v1/sha"]

# %% [markdown]
# A search creates several environments, so it takes a function.
# The reward is the number of instructions saved.


# %%
def make_env():
    return compiler_gym.make(
        "llvm-v0", reward_space="IrInstructionCount", action_space="PassesAndPipelines"
    )


# %% [markdown]
# `Budget(steps=...)` counts the passes that are run: the same seed then gives the same result.
# `Budget(seconds=...)` limits the time.

# %%
found = run_search(make_env, PROGRAMS, budget=Budget(steps=800), jobs=2, seed=0)
for one in found:
    print(f"{one.benchmark:32} saved {one.reward:.0f} with {len(one.actions)} actions")

# %% [markdown]
# The result is a list of actions. We replay it from the start, and compare it with `-Oz`.

# %%
sizes, levels = [], []
with make_env() as env:
    for one in found:
        env.reset(benchmark=one.benchmark)
        env.multistep(one.actions)
        sizes.append(env.observation["IrInstructionCount"])
        levels.append(env.observation["IrInstructionCountOz"])
for program, size, level in zip(PROGRAMS, sizes, levels, strict=True):
    print(f"{program:20} -Oz {level:5}   found {size:5}   {100 * (1 - size / level):.1f} % smaller")

# %% [markdown]
# These are the actions for the first program; other programs have different ones.

# %%
print(found[0].action_names)

# %%
percent = [100 * (1 - size / level) for size, level in zip(sizes, levels, strict=True)]
names = [program.rpartition("/")[2] for program in PROGRAMS]
plt.figure(figsize=(7, 3), layout="constrained")
bars = plt.barh(names, percent, color="tab:blue")
plt.bar_label(bars, [f"{value:.1f} %" for value in percent], padding=4)
plt.xlabel("fewer instructions than clang -Oz (%)")
plt.xlim(0, max(percent) * 1.2 + 0.1)
plt.gca().invert_yaxis()
plt.show()

# %% [markdown]
# **Next:** [train PPO](train_ppo.md), or [all searches](../guide/search.md).
# From a shell: `compiler-gym search main.c --time 30`.
