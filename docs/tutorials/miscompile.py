# SPDX-License-Identifier: MIT
# A tutorial is written as you would in a notebook, and its libraries are partially typed:
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# %% [markdown]
# # Validate and reduce a miscompile
#
# A pass with a bug makes programs small, fast and wrong, and still earns rewards.
# This tutorial shows you how validation catches a pass that is wrong on purpose, and how to find
# the action that is to blame.
# You need LLVM 22's headers and a C++ compiler: `apt install llvm-22-dev g++`.

# %%
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import compiler_gym
from compiler_gym.search import minimize_trajectory_iteratively

# %% [markdown]
# ## The bug
#
# The pass replaces `x * 8` with a shift. It should shift by 3, but shifts by 4.

# %%
SOURCE = r"""
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
using namespace llvm;
struct MulToShift : PassInfoMixin<MulToShift> {
  PreservedAnalyses run(Function& function, FunctionAnalysisManager&) {
    for (auto& one : make_early_inc_range(instructions(function))) {
      Value* value;
      const APInt* factor;
      if (!match(&one, PatternMatch::m_Mul(PatternMatch::m_Value(value),
                                           PatternMatch::m_Power2(factor)))) continue;
      IRBuilder<> builder(&one);
      one.replaceAllUsesWith(builder.CreateShl(value, factor->logBase2() + 1));  // the bug
      one.eraseFromParent();
    }
    return PreservedAnalyses::none();
  }
};
extern "C" PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Wrong", "1", [](PassBuilder& builder) {
    builder.registerPipelineParsingCallback(
        [](StringRef name, FunctionPassManager& passes, ArrayRef<PassBuilder::PipelineElement>) {
          if (name != "wrong-shift") return false;
          passes.addPass(MulToShift());
          return true;
        });
  }};
}
"""
folder = Path(tempfile.mkdtemp())
(folder / "wrong.cpp").write_text(SOURCE)
options = "-std=c++17 -O1 -fPIC -shared -fno-rtti -isystem /usr/lib/llvm-22/include"
command = ["g++", *options.split(), "wrong.cpp", "-o", "libWrong.so"]
subprocess.run(command, cwd=folder, check=True)

# %% [markdown]
# ## A program and its expected output
#
# The program multiplies by 8. Its expected output is recorded from a run of the unoptimised
# program.

# %%
from compiler_gym.datasets import RunCase, RunSpec
from compiler_gym.envs.llvm import make_benchmark_from_source

program = make_benchmark_from_source(
    r"""
    #include <stdio.h>
    #include <stdlib.h>
    int main(int argc, char **argv) {
      int words = 0;
      for (int i = 1; i < argc; i++) words += atoi(argv[i]) * 8;
      printf("%d\n", words);
      return 0;
    }
    """,
    lang="c",
    run=RunSpec((RunCase(("1", "2", "3"), name="small"), RunCase(("100",), name="one"))),
)

# %% [markdown]
# ## Catch the bug
#
# We run twelve passes, with the wrong one among them. `validate()` replays them in a new process,
# builds the program, runs it, and compares its output.

# %%
env = compiler_gym.make(
    "llvm-v0",
    plugins=[folder / "libWrong.so"],
    passes=["wrong-shift"],
    reward_space="IrInstructionCount",
)
env.reset(benchmark=program)
names = "sroa early-cse instcombine simplifycfg reassociate gvn".split()
actions = [*names, "wrong-shift", "licm", "adce", "simplifycfg", "dce", "globaldce"]
# Instcombine would create the shift itself, correctly, so it has to come later.
actions.remove("instcombine")
actions.append("instcombine")
env.multistep([env.action_space[name] for name in actions])
print("saved", env.episode_reward, "instructions; the reward does not complain")
result = env.validate()
print("okay:", result.okay())
for rung in result.rungs:
    print(f"{rung.name:10} {rung.verdict.value:8} {rung.reason[:70]}")

# %% [markdown]
# ## Reduce the failure
#
# Which of the actions are needed for the failure? The search removes some, validates again, and
# keeps the shorter list if it still fails. The environment ends up with the shortest list.

# %%
lengths = [len(env.actions)]


def is_wrong(env):
    return not env.validate(rungs=("run",)).okay()


for shorter in minimize_trajectory_iteratively(env, is_wrong):
    lengths.append(len(shorter.actions))
    print(len(shorter.actions), [env.action_space.names[action] for action in shorter.actions])

# %% [markdown]
# One action is left: ours. In a shell, `compiler-gym reduce --keep failure` does all this, and
# also reduces the program: see [validation](../guide/validation.md#smaller-bugs).

# %%
plt.figure(figsize=(6, 2.8), layout="constrained")
bars = plt.bar(range(len(lengths)), lengths, color="tab:red")
plt.bar_label(bars)
plt.xticks(range(len(lengths)), ["found", *(f"cut {n}" for n in range(1, len(lengths)))])
plt.ylabel("actions that still fail")
plt.ylim(0, max(lengths) * 1.15)
plt.show()

# %%
env.close()

# %% [markdown]
# **Next:** [add a compiler](add_a_compiler.md).
