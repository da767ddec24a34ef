# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportOptionalIterable=false
# A tutorial is written as you would in a notebook, and its libraries are partially typed:
# pyright: reportPossiblyUnboundVariable=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false
# %% [markdown]
# # Train PPO and read the curves
#
# This tutorial trains an agent with PPO (proximal policy optimisation) on six programs, evaluates
# it on three others, and shows how to read the curves of a training.
# You need Stable-Baselines3 with sb3-contrib, which brings PyTorch: install the extra `rl`.
# The training takes about half a minute on one processor core.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

from compiler_gym.tools.learn.integrations.learning import Recipe, learning_env, learning_vec
from compiler_gym.tools.learn.integrations.sb3 import as_sb3

# %% [markdown]
# A `Recipe` describes the environment: by default all passes, 20 of them in an episode, and the
# logarithms of Autophase's counts as the observation. The reward is a share: an episode with a
# total of 1 makes the program as small as `clang -Oz` does.

# %%
torch.set_num_threads(1)  # fastest for networks this small
recipe = Recipe()
TRAIN = [f"cbench-v1/{name}" for name in "crc32 sha bitcount stringsearch adpcm dijkstra".split()]
TEST = [f"cbench-v1/{name}" for name in "qsort patricia blowfish".split()]

# %% [markdown]
# A callback records two curves after each round of experience.


# %%
class Curves(BaseCallback):
    """Keeps the values that PPO logs."""

    def __init__(self):
        super().__init__()
        self.steps, self.reward, self.entropy = [], [], []

    def _on_step(self):
        return True

    def _on_rollout_start(self):
        logged = self.model.logger.name_to_value
        rewards = [episode["r"] for episode in self.model.ep_info_buffer]
        if rewards and "train/entropy_loss" in logged:
            self.steps.append(self.num_timesteps)
            self.reward.append(float(np.mean(rewards[-40:])))
            self.entropy.append(-logged["train/entropy_loss"])


def train(algorithm):
    """Train on the programs of `TRAIN`, four environments at a time."""
    curves = Curves()
    envs = as_sb3(learning_vec(4, recipe, sampler=TRAIN))
    model = algorithm("MlpPolicy", envs, n_steps=128, batch_size=128, device="cpu", seed=0)
    model.learn(8192, callback=curves)
    envs.close()
    return model, curves


model, curves = train(MaskablePPO)
print(f"mean reward of an episode: {curves.reward[0]:.2f} at first, {curves.reward[-1]:.2f} now")

# %% [markdown]
# **Evaluate on unseen programs.** Only these results show whether the agent has learned anything
# general. Pass the mask of useful actions to `predict`, as in training.


# %%
def evaluate(model, benchmark, masks=True):
    """Return the reward of one episode without exploration, and its actions."""
    with learning_env(recipe, benchmark=benchmark) as env:
        observation, _ = env.reset(seed=0)
        total, actions, is_over = 0.0, [], False
        while not is_over:
            mask = {"action_masks": env.get_wrapper_attr("action_masks")()} if masks else {}
            action = int(model.predict(observation, deterministic=True, **mask)[0])
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            actions.append(action)
            is_over = terminated or truncated
    return total, actions


for benchmark in TEST:
    total, actions = evaluate(model, benchmark)
    print(f"{benchmark:20} {total:.2f} of -Oz's saving, with {len(set(actions))} different passes")

# %% [markdown]
# **Why masks?** Most passes have no effect most of the time. Then the observation stays the same,
# and a deterministic policy without masks chooses the same pass again, until the episode ends.
# Plain PPO with the same settings shows it:

# %%
plain, _ = train(PPO)
for benchmark in TEST:
    total, actions = evaluate(plain, benchmark, masks=False)
    print(f"{benchmark:20} {total:.2f} of -Oz's saving, with {len(set(actions))} different passes")

# %% [markdown]
# **How to read the curves.**
# The reward should rise and then level off.
# The entropy measures how random the policy still is, and should fall slowly.
# If it drops at once, the policy has stopped exploring; if it does not fall, the policy is not
# learning.

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3), layout="constrained")
left.plot(curves.steps, curves.reward)
left.set(xlabel="steps", ylabel="reward of an episode", title="rises, then levels off")
right.plot(curves.steps, curves.entropy, color="tab:orange")
right.set(xlabel="steps", ylabel="entropy", title="falls slowly")
right.set_ylim(bottom=0)
plt.show()

# %% [markdown]
# **Next:** compare [other agents](../results/baselines-zoo.md) with this one, train
# [a graph network](graph_network.md), or read the
# [results of longer trainings](../results/learning.md).
