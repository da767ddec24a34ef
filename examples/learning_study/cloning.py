# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
# PyTorch has no types for much of what it gives, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false
"""A policy cloned from what searches did: one episode, no search, against clang -Oz.

Its actions are the few passes or sequences that `mining` chose, and one that ends the
episode. A beam search over them on every training program gives the episodes to learn
from; those near the best of their program are recorded and cloned, the better the more.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import mining
import numpy as np
import torch
from gymnasium.spaces import Discrete
from playing import Chooser
from torch import nn
from training_programs import COST, cut, generated, held_out

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.runs import RunFolder
from compiler_gym.search import level_sequences
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.tools.learn.integrations.learning import Recipe, learning_env
from compiler_gym.wrappers import EpisodeRecorder


@dataclass(frozen=True, slots=True)
class Plan:
    """What is learnt; the defaults are those of the published figures."""

    whole: int = 0
    """Programs of csmith to search on."""
    functions: int = 0
    """Functions of csmith programs to search on, each a program of its own."""
    recorded: tuple[str, ...] = ()
    """Recorded programs to search on besides."""
    steps: int = 400
    """New actions that the search of each program tries."""
    sequences: int = 12
    """How many of the sequences found become actions."""
    depth: int = 4
    """Actions in an episode, the end of it not counted."""
    width: int = 3
    """Beginnings that the beam search keeps, and episodes that it records."""
    after_a_level: int = 1
    """1 clones only episodes that begin with one of the compiler's own levels, 0 all."""
    finish: int = 12
    """The actions are the best level and as many passes, those that save most after it first;
    0 takes sequences that a search of every program found."""
    temperature: float = 0.005
    """By how much an episode may save less than the best before it counts for e times less."""
    seeds: int = 3
    """Policies that are cloned."""
    members: int = 5
    """Networks whose votes make a policy."""
    epochs: int = 300
    seed: int = 0
    """Of the search."""
    test: tuple[str, ...] = ()
    """Names of programs that are held out; all without any."""


def clone(run: RunFolder, plan: Plan) -> None:
    """Search, clone and play everything that `run` does not have yet."""
    torch.set_num_threads(1)
    kept = run.find_result("training programs")
    if kept is None:
        functions = cut(plan.functions, run.path / "functions") if plan.functions else []
        programs = [*generated(plan.whole), *functions, *plan.recorded]
        kept = {"programs": programs}
        run.record("training programs", kept)
    programs = kept["programs"]
    named = run.find_result("actions")
    if named is None:
        chosen = _chosen(run, plan, programs)
        named = {"macros": {f"sequence-{n}": list(s) for n, s in enumerate(chosen)}}
        run.record("actions", named)
    macros = named["macros"]
    record_traces(run, plan, macros, programs)
    test = held_out(list(plan.test))
    with TranspositionCache() as cache:
        for seed in range(plan.seeds):
            policy = _policy(run, plan, macros, seed)
            judge(run, f"cloned {seed}", most_likely(policy), plan, macros, test, cache)
        name = next(iter(macros))
        judge(run, f"always {name}", _Constant(0, len(macros)), plan, macros, test, cache)
        for level in ("-Oz", "-O1"):
            judge(
                run, f"opt {level}", _Constant(0, 1), plan, {f"level{level}": [level]}, test, cache
            )


def _chosen(run: RunFolder, plan: Plan, programs: Sequence[str]) -> list[mining.Names]:
    """Return the sequences that become actions."""
    if plan.finish:
        return mining.finishers(run, programs, plan.finish)
    found = mining.mine(run, programs, plan.steps, plan.seed)
    return mining.cover(run, programs, found, plan.sequences)


def _policy(run: RunFolder, plan: Plan, macros: dict[str, list[str]], seed: int) -> "Ensemble":
    """Return the policy of a seed, fitted unless it is there."""
    path = run.path / f"policy-{seed}.pt"
    if not path.is_file():
        first = _firsts(macros) if plan.after_a_level else None
        fitted = fit(read_traces(run.path / "traces.jsonl", plan, first), plan, macros, seed)
        torch.save(fitted.state_dict(), path)
    policy = Ensemble(*_sizes(macros, plan), plan.members)
    policy.load_state_dict(torch.load(path, weights_only=True))
    return policy


def recipe(plan: Plan, macros: dict[str, list[str]]) -> Recipe:
    """Return how the environment is set up: a few sequences, and the end."""
    return Recipe(
        action_space=mining.ACTIONS,
        macros=macros,
        actions=tuple(macros),
        ends=True,
        savings=COST,
        episode_length=plan.depth + 1,
        history=plan.depth,
    )


def record_traces(
    run: RunFolder, plan: Plan, macros: dict[str, list[str]], programs: Sequence[str]
) -> None:
    """Search every training program over the few actions, and record the best episodes."""
    file = run.path / "traces.jsonl"
    with TranspositionCache() as cache:
        env = EpisodeRecorder(learning_env(recipe(plan, macros), cache=cache), file)
        with env:
            for program in programs:
                if run.find_result(f"traces {program}") is not None:
                    continue
                try:
                    traces = beam(env.env, program, len(macros), plan)
                except BenchmarkInitError:
                    traces = []
                for _, actions in traces:
                    env.reset(options={"benchmark": program})
                    for action in actions:
                        env.step(action)
                env.flush()
                run.record(f"traces {program}", {"episodes": traces})


def beam(env: Any, program: str, count: int, plan: Plan) -> list[tuple[float, list[int]]]:
    """Return the best episodes and what they save, all within reach of the best.

    An episode ends where no action saves more.
    """
    ended: dict[tuple[int, ...], float] = {}
    heads: list[tuple[int, ...]] = [()]
    known: dict[tuple[int, ...], float] = {}
    for _ in range(plan.depth):
        for head in heads:
            for action in range(count):
                known[*head, action] = _saved(env, program, (*head, action))
        tails = {key: value for key, value in known.items() if len(key) == len(heads[0]) + 1}
        gains = {k: v for k, v in tails.items() if len(k) == 1 or v > known[k[:-1]] + 1e-9}
        ended |= gains
        heads = sorted(gains, key=lambda key: (-gains[key], key))[: plan.width]
        if not heads:
            break
    best = sorted(ended, key=lambda key: (-ended[key], len(key), key))[: plan.width]
    reach = [key for key in best if ended[key] >= ended[best[0]] - 3 * plan.temperature]
    return [(ended[key], [*key, count]) for key in reach]


def _saved(env: Any, program: str, actions: Sequence[int]) -> float:
    env.reset(options={"benchmark": program})
    total = 0.0
    for action in actions:
        _, reward, *_, info = env.step(action)
        if "error" in info:
            return -math.inf
        total += float(reward)
    return total


@dataclass(frozen=True, slots=True)
class Traces:
    """Recorded steps: what was seen, what was done, and how much each counts."""

    seen: Any
    done: Any
    weight: Any


def _firsts(macros: dict[str, list[str]]) -> set[int]:
    """Return the numbers of the actions that are one of the compiler's own levels."""
    return {n for n, names in enumerate(macros.values()) if level_sequences(names) == [[0]]}


def read_traces(file: Path, plan: Plan, first: set[int] | None = None) -> Traces:
    """Return the steps of a file that `EpisodeRecorder` wrote, of episodes that begin so.

    The episodes of a program count for one together.
    """
    episodes: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        episode = json.loads(line)
        if first is not None and episode["steps"][0]["actions"][0] not in first:
            continue
        episodes.setdefault(episode["benchmark"], []).append(episode)
    seen, done, weight = [], [], []
    for same in episodes.values():
        saved = np.array([sum(step["reward"] for step in e["steps"]) for e in same])
        shares = np.exp((saved - saved.max()) / plan.temperature)
        for episode, share in zip(same, shares / shares.sum(), strict=True):
            before = episode["observation"]
            for step in episode["steps"]:
                seen.append(np.array(before, np.float32).reshape(-1))
                done.append(int(step["actions"][0]))
                weight.append(share)
                before = step["observation"]
    return Traces(np.stack(seen), np.array(done), np.array(weight, np.float32))


class Ensemble(nn.Module):
    """Small networks that vote: with few programs, one alone depends on its start."""

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(self, size: int, actions: int, members: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("spread", torch.ones(size))
        self.members = nn.ModuleList(
            nn.Sequential(nn.Dropout(0.1), nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, actions))
            for _ in range(members)
        )

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """Return the scores of the actions by every member."""
        scaled = ((seen - self.mean) / self.spread).clamp(-3, 3)
        return torch.stack([member(scaled) for member in self.members])


def most_likely(policy: Ensemble) -> Chooser:
    """Return what does what the members together find most likely."""
    policy.eval()

    def choose(seen: Any, masks: Any, episode: int) -> int:
        with torch.no_grad():
            likely = policy(torch.as_tensor(seen[None])).softmax(-1).mean(0)[0]
        return int(likely.masked_fill(~torch.as_tensor(masks), -1.0).argmax())

    return choose


def fit(traces: Traces, plan: Plan, macros: dict[str, list[str]], seed: int) -> Ensemble:
    """Return a policy that most likely does what was recorded."""
    torch.manual_seed(seed)
    policy = Ensemble(*_sizes(macros, plan), plan.members)
    seen, done = torch.as_tensor(traces.seen), torch.as_tensor(traces.done)
    weight = torch.as_tensor(traces.weight)
    policy.mean.copy_(seen.mean(0))
    policy.spread.copy_(seen.std(0).clamp_min(0.05))
    optimiser = torch.optim.AdamW(policy.parameters(), lr=2e-3, weight_decay=0.05)
    loss_of = nn.CrossEntropyLoss(reduction="none")
    for _ in range(plan.epochs):
        for part in torch.randperm(len(seen)).split(256):
            scores = policy(seen[part])
            loss = torch.zeros(())
            for one in scores:
                loss = loss + (loss_of(one, done[part]) * weight[part]).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return policy


def judge(
    run: RunFolder,
    method: str,
    choose: Chooser,
    plan: Plan,
    macros: dict[str, list[str]],
    test: Sequence[str],
    cache: TranspositionCache,
) -> None:
    """Play one episode of every program that is held out, and record where it ends."""
    missing = [program for program in test if run.find_result(f"{method} {program}") is None]
    if not missing:
        return
    with learning_env(recipe(plan, macros), cache=cache) as env:
        for program in missing:
            played = one_shot(env, program, choose)
            run.record(f"{method} {program}", played, cast(CompilerEnv, env.unwrapped).state)


def one_shot(env: Any, program: str, choose: Chooser) -> dict[str, Any]:
    """Return the counts of one episode, which is left in its last state."""
    seen, _ = env.reset(options={"benchmark": program})
    observe = env.unwrapped.observation
    found = {"start": int(observe[COST]), "baseline": int(observe[f"{COST}Oz"])}
    actions: list[int] = []
    ended = False
    while not ended:
        actions.append(choose(seen, env.action_masks(), 0))
        seen, _, terminated, truncated, _ = env.step(actions[-1])
        ended = terminated or truncated
    return {**found, "last": int(observe[COST]), "actions": actions}


class _Constant:
    """Plays one sequence and ends: what there is to learn beyond it?"""

    def __init__(self, action: int, end: int) -> None:
        self._action, self._end = action, end

    def __call__(self, seen: Any, masks: Any, episode: int) -> int:
        steps_left = float(seen[-1])
        return self._action if steps_left == 1.0 else self._end


def _sizes(macros: dict[str, list[str]], plan: Plan) -> tuple[int, int]:
    env = learning_env(recipe(plan, macros))
    try:
        assert isinstance(env.action_space, Discrete)
        return int(np.prod(env.observation_space.shape or ())), int(env.action_space.n)
    finally:
        env.close()


__all__ = ["Plan", "clone"]
