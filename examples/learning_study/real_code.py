# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
# PyTorch has no types for much of what it gives, and may not be installed:
# pyright: reportUnknownMemberType=false
"""Does real code teach more than generated code? One agent, learnt on each, judged on real code.

The agent, its budget and its seeds are the same; only the programs differ. It is judged by one
episode on modules of packages of which it saw nothing, and of which no function has
a near duplicate in what it saw.
"""

import random
from dataclasses import dataclass
from typing import Any

import against_random
import ppo
import torch
from training_programs import HELD_OUT, cut, generated, held_out

import compiler_gym
from compiler_gym.datasets import CorpusDataset
from compiler_gym.runs import RunFolder

SOURCES = ("generated", "real")
"""What is learnt on: csmith's programs and their functions, or modules of packages."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is compared; the defaults are those of the published figures."""

    dataset: str = "benchmark://debian-v0"
    """A dataset with splits."""
    seeds: int = 3
    """Policies that are trained on each source."""
    steps: int = 10_240
    """Compilations to learn from, for each policy."""
    most: int = 200
    """Programs of each source to learn on, at most; half of the generated ones are functions."""
    judged: int = 40
    """Modules to be judged on, at most."""
    smallest: int = 60
    largest: int = 4000
    """Instructions of a module before any pass."""
    episode: int = 30
    elsewhere: int = 1
    """1 judges the policies on cbench-v1 too, 0 does not."""

    def options(self, seed: int, train: tuple[str, ...]) -> ppo.Options:
        """Return the options of the agent."""
        return against_random.agent_options(train, self.steps, self.episode, seed=seed)


def compare(run: RunFolder, plan: Plan) -> None:
    """Train, judge and record everything that `run` does not have yet."""
    torch.set_num_threads(1)
    known = run.find_result("programs")
    if known is None:
        known = {
            "generated": [
                *generated(plan.most - plan.most // 2),
                *cut(plan.most // 2, run.path / "functions"),
            ],
            "real": modules(plan, "train", plan.most),
        }
        run.record("programs", known)
    learnt = {
        (source, seed): against_random.trained(
            run, plan.options(seed, tuple(known[source])), f"{source}-{seed}"
        )
        for seed in range(plan.seeds)
        for source in SOURCES
    }
    held = run.find_result("held out")
    if held is None:
        held = {"programs": modules(plan, "test", plan.judged)}
        run.record("held out", held)
    judged = [*held["programs"], *(held_out([]) if plan.elsewhere else [])]
    for seed in range(plan.seeds):
        options = plan.options(seed, ())
        against_random.play_all(run, f"random {seed}", options, judged, plan.episode, seed, None)
        for source in SOURCES:
            snapshots = learnt[source, seed]
            for steps, policy in snapshots[1::2] or snapshots[-1:]:  # halfway and at the end
                method = f"{source} {seed} after {steps}"
                against_random.play_all(run, method, options, judged, plan.episode, seed, policy)


def modules(plan: Plan, split: str, most: int) -> list[str]:
    """Return `most` modules of a split, drawn by a fixed seed among those of a fair size."""
    with compiler_gym.make("llvm-v0") as env:
        dataset: Any = env.datasets[plan.dataset]
    assert isinstance(dataset, CorpusDataset)
    fair = [
        uri
        for uri in dataset.split(split, "module").benchmark_uris()
        if plan.smallest <= dataset.facts(uri).instructions <= plan.largest
    ]
    return sorted(random.Random(split).sample(fair, min(most, len(fair))))


__all__ = ["HELD_OUT", "SOURCES", "Plan", "compare", "modules"]
