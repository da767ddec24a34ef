# SPDX-License-Identifier: MIT
# Matplotlib types its arguments partially:
# pyright: reportUnknownMemberType=false
# %% [markdown]
# # Add a compiler
#
# This tutorial shows you how to turn anything that improves programs into an environment.
# The example is tiny: a program is an arithmetic expression in Python, and rules simplify it.
# You write one class, the *session*; the library does the rest.

# %%
import os
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

# %% [markdown]
# ## The session
#
# A session holds one program. It declares actions (`action_spaces`) and observations
# (`observation_spaces`), applies the actions, and returns the observations. It runs in a separate
# process, so we store it in a file that this process can import.

# %%
SESSION = '''
import ast

from compiler_gym.session import (
    ActionSpaceSpec, CommandlineSpec, CompilerSession, FlagSpec, ObservationSpec, ScalarSpec,
    TextSpec,
)


class Fold(ast.NodeTransformer):
    """2 * 3 is 6."""
    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return ast.Constant(eval(ast.unparse(node)))
        return node


class One(ast.NodeTransformer):
    """x * 1 is x."""
    def visit_BinOp(self, node):
        self.generic_visit(node)
        one = isinstance(node.right, ast.Constant) and node.right.value == 1
        return node.left if one and isinstance(node.op, ast.Mult) else node


class Zero(ast.NodeTransformer):
    """x * 0 is 0, and x + 0 is x."""
    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not (isinstance(node.right, ast.Constant) and node.right.value == 0):
            return node
        if isinstance(node.op, ast.Mult):
            return ast.Constant(0)
        return node.left if isinstance(node.op, ast.Add) else node


RULES = {"fold": Fold, "one": One, "zero": Zero}


class CalculatorSession(CompilerSession):
    compiler_version = "1.0"
    action_spaces = (
        ActionSpaceSpec("Rules", CommandlineSpec(tuple(
            FlagSpec(name, f"--{name}", rule.__doc__) for name, rule in RULES.items()
        ))),
    )
    observation_spaces = (
        ObservationSpec("text", TextSpec(), "The expression.", default=""),
        ObservationSpec("size", ScalarSpec(0, None, "int"), "How many nodes it has.", default=0),
    )

    def __init__(self, working_dir, action_space, benchmark):
        self.tree = ast.parse(benchmark.contents.decode(), mode="eval")

    def apply_action(self, action):
        before = ast.unparse(self.tree)
        self.tree = ast.fix_missing_locations(list(RULES.values())[action]().visit(self.tree))
        return False, None, ast.unparse(self.tree) == before

    def get_observation(self, name):
        if name == "text":
            return ast.unparse(self.tree)
        return sum(1 for _ in ast.walk(self.tree))
'''
folder = Path(tempfile.mkdtemp())
(folder / "calculator_session.py").write_text(SESSION)
sys.path.insert(0, str(folder))
os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])

# %% [markdown]
# ## The environment
#
# All compilers share one environment class. Add a program and a cost:

# %%
from compiler_gym import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.service import SessionSource
from compiler_gym.spaces import CostReward

program = Benchmark("benchmark://sums-v0/1", b"(a * (3 - 2) + b * (2 * 2 - 4)) * (5 - 4) + c * 1")
env = CompilerEnv(
    SessionSource("calculator_session:CalculatorSession"),
    benchmark=program,
    observation_space="text",
    reward_space="saved",
    rewards=[CostReward("saved", cost="size", initial="size", platform_dependent=False)],
)
text, info = env.reset()
sizes, labels = [env.observation["size"]], [text]
for name in ("one", "fold", "one", "zero", "zero"):
    text, reward, terminated, truncated, info = env.step(env.action_space[name])
    sizes.append(env.observation["size"])
    labels.append(text)
    print(f"{name:5} earned {reward:4.0f}: {text}")

# %% [markdown]
# The order matters: `one` found little before `fold` had run, and `zero` had to wait for both.
# This is the problem that the whole library is about, on a small scale.
#
# Everything else works as it does for LLVM: forks, replay, wrappers, searches.

# %%
with env.fork() as copy:
    print(copy.state.commandline, "gives", copy.observation["size"], "nodes in the fork, too")
env.close()

# %%
plt.figure(figsize=(7, 3), layout="constrained")
plt.step(range(len(sizes)), sizes, where="post", marker="o")
for number, label in enumerate(labels):
    if number == 0 or label != labels[number - 1]:
        plt.annotate(
            label, (number, sizes[number]), xytext=(6, 6), textcoords="offset points", fontsize=8
        )
plt.xticks(range(len(sizes)), ["reset", "one", "fold", "one", "zero", "zero"])
plt.xlim(-0.2, len(sizes) + 0.8)
plt.ylim(0, max(sizes) * 1.2)
plt.ylabel("nodes")
plt.show()

# %% [markdown]
# **Next:** [the guide](../guide/add-a-compiler.md) turns this into a package that
# `compiler_gym.make` finds by name, and checks it with a public test suite.
# `compiler-gym new NAME` writes such a package.
