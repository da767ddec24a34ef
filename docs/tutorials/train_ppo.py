# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportOptionalIterable=false
# pyright: reportPossiblyUnboundVariable=false
# A tutorial is written as you would in a notebook, and its libraries are partially typed:
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUntypedBaseClass=false
# %% [markdown]
# # Train PPO and read the curves
#
# PPO (proximal policy optimisation) learns a policy: from what it sees, what to do.
# You need Stable-Baselines3, which brings PyTorch: install the extra `rl`.
# This page trains for half a minute on a processor; a real training takes hours.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from compiler_gym.tools.learn.integrations.learning import Recipe, learning_env, learning_vec
from compiler_gym.tools.learn.integrations.sb3 import as_sb3

# %% [markdown]
# A `Recipe` says how to learn: which actions, how long an episode is.
# Few actions and short episodes are learnt soon. Two of these actions matter a lot here,
# and some do nothing. Networks as small as these are quickest on one thread.

# %%
torch.set_num_threads(1)
ACTIONS = ("sroa", "early-cse", "simplifycfg", "instcombine", "gvn", "licm", "adce", "loop-rotate")
recipe = Recipe(actions=ACTIONS, episode_length=5)
TRAIN = ["cbench-v1/crc32", "cbench-v1/sha", "cbench-v1/bitcount", "cbench-v1/stringsearch"]
TEST = "cbench-v1/qsort"

# %% [markdown]
# The callback writes down three curves after each round of experience.


# %%
class Curves(BaseCallback):
    """Keeps what PPO logs."""

    def __init__(self):
        super().__init__()
        self.steps, self.reward, self.entropy = [], [], []

    def _on_step(self):
        return True

    def _on_rollout_start(self):
        known = self.model.logger.name_to_value
        rewards = [episode["r"] for episode in self.model.ep_info_buffer]
        if rewards and "train/entropy_loss" in known:
            self.steps.append(self.num_timesteps)
            self.reward.append(float(np.mean(rewards[-40:])))
            self.entropy.append(-known["train/entropy_loss"])


curves = Curves()
envs = as_sb3(learning_vec(4, recipe, sampler=TRAIN))
model = PPO("MlpPolicy", envs, n_steps=40, batch_size=40, learning_rate=2e-3, device="cpu", seed=0)
model.learn(2400, callback=curves)
envs.close()
print(f"mean reward of an episode: {curves.reward[0]:.2f} at first, {curves.reward[-1]:.2f} now")

# %% [markdown]
# A policy is worth what it does on a program it has never seen. We let it act on `qsort`.

# %%
with learning_env(recipe, benchmark=TEST) as env:
    seen, _ = env.reset(seed=0)
    earned, chosen, ended = 0.0, [], False
    while not ended:
        action = int(model.predict(seen, deterministic=True)[0])
        seen, reward, terminated, truncated, _ = env.step(action)
        earned += float(reward)
        chosen.append(ACTIONS[action])
        ended = terminated or truncated
print(f"{TEST}: {earned:.2f} of what -Oz saves, by", ", ".join(chosen))

# %% [markdown]
# **How to read the curves.**
# The reward should rise, and then level off. 1 would be `-Oz`.
# The entropy says how undecided the policy is. It should fall slowly:
# if it drops at once, the policy has stopped trying; if it stays, it learns nothing.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3), layout="constrained")
left.plot(curves.steps, curves.reward)
left.set(xlabel="actions taken", ylabel="reward of an episode", title="rises, then levels off")
right.plot(curves.steps, curves.entropy, color="tab:orange")
right.axhline(np.log(len(ACTIONS)), color="gray", linestyle="--", linewidth=1)
right.set(xlabel="actions taken", ylabel="entropy", title="falls slowly (dashed: random)")
right.set_ylim(bottom=0)
plt.show()

# %% [markdown]
# **Next:** [a graph network that predicts](graph_network.md), or what longer trainings reached:
# [what learning shows](../guide/learning.md).
