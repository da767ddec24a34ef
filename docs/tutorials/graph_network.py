# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportArgumentType=false
# A tutorial is written as you would in a notebook, and its libraries are partially typed:
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUntypedBaseClass=false
# %% [markdown]
# # A graph network that predicts
#
# This tutorial shows you how to predict from a program's graph how small `-Oz` will make it,
# without running `-Oz`. You need PyTorch: the extra `rl`.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

import compiler_gym

torch.manual_seed(0)
torch.set_num_threads(1)  # fastest for graphs this small
random = np.random.default_rng(0)

# %% [markdown]
# ## Data
#
# We observe each bundled program in eight states: unoptimised, and after more and more random
# passes. `ProgramlArrays` is the graph as arrays. A fork of the environment runs `-Oz` to get the
# size to predict. Every fifth program is held out for the test in all of its states.

# %%
graphs = []
with compiler_gym.make("llvm-v0", action_space="PassesAndPipelines") as env:
    programs = sorted(env.datasets["cbench-v1"].benchmark_uris())
    passes = [number for number, name in enumerate(env.action_space.names) if name[0] != "-"]
    for number, program in enumerate(programs):
        env.reset(benchmark=program)
        if env.observation["IrInstructionCount"] > 6000:
            continue
        for _ in range(8):
            arrays = env.observation["ProgramlArrays"]
            edges = np.stack([arrays["edge_source"], arrays["edge_target"]])
            with env.fork() as fork:
                fork.multistep([env.action_space["-Oz"]])
                size = fork.observation["IrInstructionCount"]
            graphs.append((number % 5 == 0, arrays["node_text"], edges, arrays["edge_kind"], size))
            env.multistep(random.choice(passes, 4).tolist())
words = 1 + max(int(texts.max()) for _, texts, *_ in graphs)
print(len(graphs), "graphs of", len(programs), "programs;", words, "words")

# %% [markdown]
# ## Network
#
# Each node starts as a vector for its word. In each of two rounds it receives the mean of its
# neighbours' messages, separately for each kind of edge. Then the network predicts how much of each
# node will be left, and adds this up, so twice the program has twice the size without learning.


# %%
class GraphNetwork(nn.Module):
    """Predicts a size with two rounds of messages and a sum over all nodes."""

    def __init__(self, words: int, width: int = 16, kinds: int = 4) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.messages = nn.ModuleList(
            nn.ModuleList(nn.Linear(width, width) for _ in range(kinds)) for _ in range(2)
        )
        self.left = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, texts, edges, kinds):
        nodes = self.words(texts)
        for round_ in self.messages:
            heard = torch.zeros_like(nodes)
            for kind, message in enumerate(round_):
                source, target = edges[:, kinds == kind]
                count = torch.bincount(target, minlength=len(nodes)).clamp(min=1)
                total = torch.zeros_like(nodes).index_add(0, target, message(nodes)[source])
                heard = heard + total / count[:, None]
            nodes = torch.relu(nodes + heard)
        return nn.functional.softplus(self.left(nodes)).sum()


def tensors(graph):
    _, texts, edges, kinds, size = graph
    parts = (torch.tensor(np.asarray(one), dtype=torch.long) for one in (texts, edges, kinds))
    return *parts, torch.tensor(float(size))


train = [tensors(graph) for graph in graphs if not graph[0]]
test = [tensors(graph) for graph in graphs if graph[0]]
network = GraphNetwork(words)
optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.05)

# %% [markdown]
# ## Training
#
# The loss is the squared error of the logarithm: 10 % too much counts the same in every program.

# %%
losses = []
for _epoch in range(12):
    total = 0.0
    for index in random.permutation(len(train)):
        *graph, size = train[index]
        loss = (torch.log(network(*graph)) - torch.log(size)).pow(2)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        total += float(loss.detach())
    losses.append(total / len(train))
print(f"loss {losses[0]:.3f} after the first round, {losses[-1]:.4f} after the last")

# %% [markdown]
# ## Test
#
# We compare with a guess from the number of nodes alone, on the held-out programs.

# %%
with torch.no_grad():
    guesses = np.array([float(network(*graph)) for *graph, _ in test])
truth = np.array([float(size) for *_, size in test])
per_node = np.mean([float(size) / len(texts) for texts, _, _, size in train])
plain = np.array([len(texts) * per_node for texts, *_ in test])


def error(guess):
    """Return the median error in per cent."""
    return 100 * float(np.median(np.abs(guess / truth - 1)))


print(f"median error: network {error(guesses):.0f} %, nodes alone {error(plain):.0f} %")

# %%
plt.figure(figsize=(5.5, 4), layout="constrained")
limits = [truth.min() * 0.7, truth.max() * 1.4]
plt.plot(limits, limits, color="gray", linewidth=1)
plt.loglog(truth, plain, "x", color="tab:orange", label="from the number of nodes")
plt.loglog(truth, guesses, "o", color="tab:blue", label="graph network")
plt.xlabel("instructions after -Oz")
plt.ylabel("predicted")
plt.legend()
plt.show()

# %% [markdown]
# **Next:** [write a wrapper and a reward](wrapper_and_reward.md).
# `agents/reinforce_gnn.py` in the repository lets such a network choose passes.
