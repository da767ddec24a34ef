# SPDX-License-Identifier: MIT
# A tutorial is written as you would in a notebook, and its libraries are partially typed:
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# %% [markdown]
# # Look into a program
#
# An agent chooses actions by its observations. This tutorial shows you how to observe counts,
# functions and graphs.

# %%
import matplotlib.pyplot as plt
import networkx as nx

import compiler_gym

env = compiler_gym.make(
    "llvm-v0",
    benchmark="cbench-v1/sha",
    action_space="PassesAndPipelines",
    reward_space="IrInstructionCount",
)
env.reset()

# %% [markdown]
# ## The text
#
# `Ir` is the program itself, as LLVM writes it. Its first function begins like this:

# %%
text = env.observation["Ir"]
print("\n".join(text[text.index("define") :].splitlines()[:9]))

# %% [markdown]
# ## Counts
#
# `AutophaseDict` has names for its 56 numbers. Compare them before and after the level `-Oz`:

# %%
before = env.observation["AutophaseDict"]
env.step(env.action_space["-Oz"])
after = env.observation["AutophaseDict"]
for name in ("TotalInsts", "NumLoadInst", "NumStoreInst", "TotalBlocks"):
    print(f"{name:14} {before[name]:5} -> {after[name]:5}")

# %% [markdown]
# ## Functions
#
# Some observations have a row for each function:

# %%
table = env.observation["FunctionFeatures"]
print(len(table["names"]), "functions:", ", ".join(table["names"][:6]))

# %% [markdown]
# ## The graph
#
# A ProGraML graph has nodes for instructions, values and types. Its edges show the order of
# execution (control), the uses of values (data) and the calls of functions (call).

# %%
graph = env.observation["Programl"]
kinds = {"control": 0, "data": 0, "call": 0, "type": 0}
for *_, flow in graph.edges(data="flow"):
    kinds[list(kinds)[flow]] += 1
print(graph.number_of_nodes(), "nodes; edges:", kinds)

# %% [markdown]
# The whole graph is too large for one picture, so we draw the instructions of one function and
# the control flow between them. The square is the first instruction; a curve back is a loop.

# %%
functions = dict(graph.nodes(data="function"))
sizes = {}
for node, data in graph.nodes(data=True):
    if data["type"] == 0 and data.get("function") is not None:
        sizes.setdefault(data["function"], []).append(node)
chosen = min(sizes.values(), key=lambda nodes: abs(len(nodes) - 30))
flow = nx.DiGraph()
flow.add_nodes_from(chosen)
flow.add_edges_from(
    (source, target)
    for source, target, kind in graph.edges(data="flow")
    if kind == 0 and source in flow and target in flow
)
print(len(chosen), "instructions")

# %%
layers = nx.single_source_shortest_path_length(flow, chosen[0])
places = {}
for depth in sorted(set(layers.values())):
    row = [node for node in chosen if layers.get(node) == depth]
    places |= {node: (depth, index - (len(row) - 1) / 2) for index, node in enumerate(row)}
seen = flow.subgraph(places)
plt.figure(figsize=(7, 3))
colors = ["tab:orange" if seen.out_degree(node) > 1 else "tab:blue" for node in seen]
edges = list(seen.edges)
back = [(here, there) for here, there in edges if places[there][0] <= places[here][0]]
on = [edge for edge in edges if edge not in back]
curve = "arc3,rad=-0.3"
nx.draw(seen, places, edgelist=on, node_size=70, node_color=colors, arrowsize=8)
nx.draw_networkx_edges(seen, places, back, node_size=70, arrowsize=8, connectionstyle=curve)
nx.draw_networkx_nodes(seen, places, [chosen[0]], node_size=110, node_shape="s")
plt.title("one function: orange instructions branch", fontsize=10)
plt.show()

# %%
env.close()

# %% [markdown]
# **Next:** [search beats -Oz](search_beats_oz.md), or [all observations](../guide/observations.md).
