# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false
# PyTorch and its libraries are partially typed, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false
"""Two learners that choose passes for one function after ``clang -Oz``, against one fixed list.

python agents/tails.py                              a small run on the bundled Debian modules
python agents/tails.py --corpus FOLDER --steps 40000 --functions 1500
                                                    on a corpus of `compiler-gym datasets build`

The fixed list comes from a search on training packages. MaskablePPO learns by acting; fitted Q
learns from random episodes. All are compared on the same functions of other packages, take the
same number of passes, and keep their best prefix: none can be worse than ``clang -Oz``.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from compiler_gym.datasets import split_of_package
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.registration import make
from compiler_gym.tools.learn.integrations.learning import Recipe, learning_env, learning_vec
from compiler_gym.tools.learn.integrations.sb3 import as_sb3

LENGTH = 6
ACTIONS = """load-store-vectorizer instcombine loop-reduce gvn scalarizer mergereturn indvars
break-crit-edges early-cse<memssa> correlated-propagation loop-rotate slsr reassociate dse licm
jump-threading sroa mldst-motion<split-footer-bb> separate-const-offset-from-gep
separate-const-offset-from-gep<lower-gep> simplifycfg<bonus-inst-threshold=4>
simplifycfg<no-keep-loops> simplifycfg<hoist-common-insts;sink-common-insts>
simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;\
no-keep-loops;hoist-common-insts;sink-common-insts>""".split()
"""Passes in the tails that searches on training packages found to save instructions."""
FIXED = ("load-store-vectorizer", "instcombine", ACTIONS[-1],
         "separate-const-offset-from-gep", "gvn", ACTIONS[-1])  # fmt: skip
"""The best of these tails for all functions, and another one that adds much to it."""
RECIPE = Recipe("llvm-tails-v0", ACTIONS, episode_length=LENGTH)
SPACES: dict[str, Any] = {"observation_space": "FunctionCounts", "reward_space": "FunctionSavings"}

Policy = Callable[[Any, Any, int], int]
"""Chooses an action from an observation, a mask and the number of the step."""


@dataclass(frozen=True, slots=True)
class Program:
    """A module and its package."""

    package: str
    address: str


def list_programs(corpus: Path | None, most: int) -> dict[str, list[Program]]:
    """Return at most `most` modules of each package, the smallest first, by split."""
    found: dict[str, list[Program]] = defaultdict(list)
    if corpus is None:
        with make("llvm-tails-v0") as env:
            for uri in env.datasets["benchmark://debian-sample-v0"].benchmark_uris():
                found[str(uri).split("/")[3]].append(Program(str(uri).split("/")[3], str(uri)))
    else:
        for result in sorted(corpus.glob("packages/*/result.json")):
            package = json.loads(result.read_text())["package"]
            modules = sorted(result.parent.glob("modules/*.bc"), key=lambda p: p.stat().st_size)
            large = [path for path in modules if path.stat().st_size > 4000]
            found[package] += [Program(package, f"file://{path}") for path in large]
    splits: dict[str, list[Program]] = defaultdict(list)
    with make("llvm-tails-v0", isolation="in-process") as env:
        for package, programs in found.items():
            chosen = (program for program in programs if has_functions(env, program))
            splits[split_of_package(package)] += islice(chosen, most)
    return splits


def has_functions(env: Any, program: Program) -> bool:
    """Return whether the module has a function, so that an episode can begin."""
    try:
        env.reset(benchmark=program.address)
    except BenchmarkInitError:
        return False
    return True


def play(env: Any, policy: Policy, address: str) -> float:
    """Return the saving of one episode, as a share of the function."""
    observation, _ = env.reset(options={"benchmark": address})
    total = 0.0
    for number in range(LENGTH):
        mask = env.get_wrapper_attr("action_masks")()
        observation, reward, *_ = env.step(policy(observation, mask, number))
        total += float(reward)
    return total


def train_ppo(programs: Sequence[str], steps: int, seed: int) -> Policy:
    """Return the policy of MaskablePPO."""
    envs = as_sb3(learning_vec(4, RECIPE, sampler=list(programs), **SPACES))
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=192, batch_size=192, gamma=1.0, ent_coef=0.01,
        learning_rate=1e-3, seed=seed, device="cpu",
    )  # fmt: skip
    model.learn(steps)
    envs.close()
    return lambda seen, mask, _: int(model.predict(seen, deterministic=True, action_masks=mask)[0])


def train_fitted_q(programs: Sequence[str], steps: int, seed: int) -> Policy:
    """Return the greedy policy of Q values that were fitted to random episodes."""
    generator = np.random.default_rng(seed)
    torch.manual_seed(seed)
    columns: list[tuple[Any, ...]] = []
    vector = learning_vec(4, RECIPE, sampler=list(programs), **SPACES)
    with closing(vector):
        seen, _ = vector.reset(seed=seed)
        for _ in range(steps // 4):
            actions = generator.integers(len(ACTIONS), size=4)
            after, rewards, terminated, truncated, _ = vector.step(actions)
            columns += zip(seen, actions, rewards, after, terminated | truncated, strict=True)
            seen = after
    before, actions, rewards, after, ends = map(np.array, zip(*columns, strict=True))
    mean, spread = before.mean(0), before.std(0) + 1e-3

    def scale(values: Any) -> torch.Tensor:
        return torch.as_tensor((values - mean) / spread, dtype=torch.float32).clamp(-5, 5)

    inputs, following = scale(before), scale(after)
    chosen = torch.as_tensor(actions)[:, None]
    earned = torch.as_tensor(rewards, dtype=torch.float32) * 100  # in per cent of the function
    goes_on = torch.as_tensor(~ends, dtype=torch.float32)
    network = torch.nn.Sequential(
        torch.nn.Linear(inputs.shape[1], 128), torch.nn.ReLU(),
        torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, len(ACTIONS)),
    )  # fmt: skip
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-2)
    for _ in range(LENGTH):  # each round looks one step further ahead
        with torch.no_grad():
            targets = earned + goes_on * network(following).max(dim=1).values.clamp_min(0)
        for batch in [b for _ in range(4) for b in torch.randperm(len(inputs)).split(256)]:
            values = network(inputs[batch]).gather(1, chosen[batch]).squeeze(1)
            loss = torch.nn.functional.mse_loss(values, targets[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    def act(seen: Any, mask: Any, _: int) -> int:
        with torch.no_grad():
            return int(np.where(mask, network(scale(seen)).numpy(), -np.inf).argmax())

    return act


def interval(values: Any, packages: Sequence[str]) -> str:
    """Return the mean in per cent, with a 95 % interval from resampling packages."""
    _, owners = np.unique(packages, return_inverse=True)
    sums, counts = np.bincount(owners, weights=values), np.bincount(owners)
    drawn = np.random.default_rng(0).integers(len(sums), size=(10_000, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), (0.025, 0.975))
    return f"{100 * np.mean(values):6.3f} % [{100 * low:6.3f}, {100 * high:6.3f}]"


def main() -> None:
    """Train, compare on other packages, and print a line for each way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help="folder of `compiler-gym datasets build`")
    parser.add_argument("--modules", type=int, default=6, help="modules of each package")
    parser.add_argument("--steps", type=int, default=2000, help="passes to train with")
    parser.add_argument("--functions", type=int, default=60, help="functions to compare on")
    parser.add_argument("--split", default="test", choices=("validation", "test"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    splits, generator = list_programs(options.corpus, options.modules), np.random.default_rng(7)

    def draw(programs: list[Program], count: int) -> list[tuple[str, str]]:
        picked = [programs[number % len(programs)] for number in range(count)]
        return [(p.package, f"{p.address}?draw={generator.integers(2**31)}") for p in picked]

    train = [program.address for program in splits["train"]]
    np.random.default_rng(options.seed).shuffle(train)
    judged = draw(splits[options.split], options.functions)
    packages = [package for package, _ in judged]
    print(f"{len(train)} training modules; {len(set(packages))} packages to judge on", flush=True)
    ways: dict[str, Callable[[], Policy]] = {
        "fixed list": lambda: lambda _seen, _mask, step: ACTIONS.index(FIXED[step]),
        "random": lambda: lambda _seen, mask, _: int(generator.choice(np.flatnonzero(mask))),
        "fitted Q": lambda: train_fitted_q(train, options.steps, options.seed),
        "MaskablePPO": lambda: train_ppo(train, options.steps, options.seed),
    }
    results: dict[str, Any] = {}
    for name, learn in ways.items():
        began = time.monotonic()
        policy = learn()
        seconds = time.monotonic() - began
        with closing(learning_env(RECIPE, isolation="in-process", **SPACES)) as env:
            results[name] = np.array([play(env, policy, address) for _, address in judged])
        difference = results[name] - results["fixed list"]
        print(f"{name:12} {interval(results[name], packages)}   minus the fixed list "
              f"{interval(difference, packages)}   {seconds:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
