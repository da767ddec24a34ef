# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
# PyTorch has no types for much of what it gives, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUntypedBaseClass=false
"""REINFORCE with a graph network over `ProgramlArrays`, with PyTorch and nothing else.

    python agents/reinforce_gnn.py --train cbench-v1/crc32 --test cbench-v1/crc32

An update plays several episodes of one program. What an action is credited with is what
its episode earned from there on, less what the others earned from the same step on. So
no critic is needed. States that were met twice are read once. A GPU is used when there
is one.
"""

import argparse
import dataclasses
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import compiler_gym
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.wrappers import ActionMasks, ConstrainedCommandline, TimeLimit

NODE_KINDS, EDGE_KINDS, POSITIONS = 4, 4, 8
"""Kinds of `ProgramlArrays`, and operands that are told apart; the rest are one."""


def option(default: Any, help: str) -> Any:
    """Return a field with its help."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of."""

    env: str = option("llvm-ic-v0", "the environment; it must have ProgramlArrays")
    train: tuple[str, ...] = option(("cbench-v1/crc32",), "programs to learn on")
    test: tuple[str, ...] = option((), "programs to report at the end")
    actions: tuple[str, ...] = option((), "the actions to offer, all without any")
    updates: int = option(60, "updates, each on one program")
    batch: int = option(8, "episodes of an update, at least 2")
    episode: int = option(10, "actions in an episode")
    learning_rate: float = option(3e-3, "the step size")
    discount: float = option(1.0, "what a reward is worth one step later")
    entropy: float = option(0.01, "the weight of staying random")
    hidden: int = option(32, "numbers that stand for a node")
    layers: int = option(2, "how many edges far a node sees")
    threads: int = option(1, "threads of PyTorch; small graphs gain little from more")
    seed: int = option(0, "of everything that is random")

    def __post_init__(self) -> None:
        if self.batch < 2:
            raise ValueError(f"batch is {self.batch}: expected at least 2 episodes to compare")


@dataclass(frozen=True, slots=True)
class Graphs:
    """Several programs as one graph without edges between them."""

    kind: torch.Tensor
    text: torch.Tensor
    owner: torch.Tensor
    """The number of the program that a node is of."""
    edges: torch.Tensor
    """Rows: source, target, relation, position. Each edge is there in both directions."""
    count: int


class GraphPolicy(nn.Module):
    """Sends messages along the edges, sums a program up, and chooses."""

    def __init__(self, texts: int, actions: int, options: Options) -> None:
        super().__init__()
        size, self.relations = options.hidden, 2 * EDGE_KINDS
        self.kind = nn.Embedding(NODE_KINDS, size)
        self.text = nn.Embedding(texts, size)
        self.position = nn.Embedding(POSITIONS, size)
        layers = range(options.layers)
        self.messages = nn.ModuleList(nn.Linear(size, self.relations * size) for _ in layers)
        self.updates = nn.ModuleList(nn.Linear(2 * size, size) for _ in layers)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in layers)
        self.head = nn.Sequential(
            nn.Linear(2 * size + 2, 2 * size), nn.ReLU(), nn.Linear(2 * size, actions)
        )

    def read(self, graphs: Graphs) -> torch.Tensor:
        """Return a row for each program: the mean and the maximum of its nodes, and its size."""
        nodes = self.kind(graphs.kind) + self.text(graphs.text)
        source, target, relation, position = graphs.edges
        degree = _sum(torch.ones_like(target, dtype=nodes.dtype)[:, None], target, len(nodes))
        place = self.position(position)
        for message, update, norm in zip(self.messages, self.updates, self.norms, strict=True):
            sent = message(nodes).view(len(nodes) * self.relations, -1)
            sent = sent.index_select(0, source * self.relations + relation) + place
            heard = _sum(torch.relu(sent), target, len(nodes)) / degree.clamp(min=1)
            nodes = norm(nodes + torch.relu(update(torch.cat([nodes, heard], 1))))
        sizes = _sum(torch.ones_like(nodes[:, :1]), graphs.owner, graphs.count)
        mean = _sum(nodes, graphs.owner, graphs.count) / sizes.clamp(min=1)
        index = graphs.owner[:, None].expand_as(nodes)
        most = torch.zeros_like(mean).scatter_reduce(0, index, nodes, "amax", include_self=False)
        return torch.cat([mean, most, sizes.log1p() / 10], 1)

    def choose(self, read: torch.Tensor, left: torch.Tensor, masks: torch.Tensor) -> Categorical:
        """Return the distribution over actions, given the share of steps `left`."""
        logits = self.head(torch.cat([read, left[:, None]], 1))
        return Categorical(logits=logits.masked_fill(~masks, -1e9))


@dataclass(frozen=True, slots=True)
class Step:
    """One action, and what it was chosen from."""

    seen: dict[str, Any]
    left: float
    mask: Any
    action: int
    reward: float


def make_env(options: Options) -> Any:
    """Return the environment, set up for the policy."""
    env = compiler_gym.make(
        options.env, observation_space="ProgramlArrays", cache=TranspositionCache()
    )
    if options.actions:
        env = ConstrainedCommandline(env, options.actions)
    return TimeLimit(ActionMasks(env), options.episode)


def train(options: Options, report: Any = None) -> tuple[GraphPolicy, list[float]]:
    """Return a policy and the mean reward of the episodes of each update, in order."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    generator = random.Random(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with make_env(options) as env:
        policy = _policy(env, options).to(device)
        optimiser = torch.optim.Adam(policy.parameters(), lr=options.learning_rate)
        history: list[float] = []
        for number in range(options.updates):
            program = generator.choice(options.train)
            episodes = [_play(env, policy, options, program) for _ in range(options.batch)]
            _improve(policy, optimiser, episodes, options)
            history.append(sum(s.reward for steps in episodes for s in steps) / options.batch)
            if report is not None:
                report({"update": number + 1, "episode_reward": history[-1], "program": program})
        return policy, history


def evaluate(policy: GraphPolicy, options: Options, programs: Sequence[str]) -> dict[str, float]:
    """Return what one episode of the most likely actions earns, by program."""
    with make_env(options) as env:
        return {
            program: sum(s.reward for s in _play(env, policy, options, program, greedy=True))
            for program in programs
        }


def pack(seen: Sequence[dict[str, Any]], device: torch.device) -> Graphs:
    """Return several observations of `ProgramlArrays` as one graph."""
    sizes = [len(graph["node_kind"]) for graph in seen]
    starts = np.cumsum([0, *sizes[:-1]])
    joined = {
        name: np.concatenate([np.asarray(graph[name], np.int64) for graph in seen])
        for name in ("node_kind", "node_text", "edge_kind", "edge_position")
    }
    source, target = (
        np.concatenate(
            [np.asarray(g[end], np.int64) + s for g, s in zip(seen, starts, strict=True)]
        )
        for end in ("edge_source", "edge_target")
    )
    kind, position = joined["edge_kind"], joined["edge_position"].clip(0, POSITIONS - 1)
    there = np.stack([source, target, kind, position])
    back = np.stack([target, source, kind + EDGE_KINDS, position])
    return Graphs(
        torch.as_tensor(joined["node_kind"], device=device),
        torch.as_tensor(joined["node_text"], device=device),
        torch.as_tensor(np.repeat(np.arange(len(seen)), sizes), device=device),
        torch.as_tensor(np.concatenate([there, back], 1), device=device),
        len(seen),
    )


def _policy(env: Any, options: Options) -> GraphPolicy:
    """Return a policy for what `env` shows and offers."""
    texts = int(env.observation_space["node_text"].high.max()) + 1
    return GraphPolicy(texts, int(env.action_space.n), options)


def _play(
    env: Any, policy: GraphPolicy, options: Options, program: str, *, greedy: bool = False
) -> list[Step]:
    """Return the steps of one episode."""
    device = next(policy.parameters()).device
    seen, _ = env.reset(options={"benchmark": program})
    steps, ended = list[Step](), False
    while not ended:
        left, mask = 1 - len(steps) / options.episode, env.get_wrapper_attr("action_masks")()
        with torch.no_grad():
            chosen = policy.choose(
                policy.read(pack([seen], device)),
                torch.tensor([left], device=device),
                torch.as_tensor(mask[None], device=device),
            )
            action = int(chosen.probs.argmax() if greedy else chosen.sample())
        after, reward, terminated, truncated, _ = env.step(action)
        steps.append(Step(seen, left, mask, action, float(reward)))
        seen, ended = after, terminated or truncated
    return steps


def _improve(
    policy: GraphPolicy,
    optimiser: torch.optim.Optimizer,
    episodes: list[list[Step]],
    options: Options,
) -> None:
    """Make what went better than the other episodes more likely."""
    device = next(policy.parameters()).device
    steps = [step for episode in episodes for step in episode]
    numbers: dict[bytes, int] = {}
    keys = [b"".join(np.asarray(item).tobytes() for item in s.seen.values()) for s in steps]
    for key in keys:
        numbers.setdefault(key, len(numbers))
    distinct = dict(zip(keys, (step.seen for step in steps), strict=True))
    read = policy.read(pack([distinct[key] for key in numbers], device))
    chosen = policy.choose(
        read[torch.tensor([numbers[key] for key in keys], device=device)],
        torch.tensor([step.left for step in steps], device=device),
        torch.as_tensor(np.stack([step.mask for step in steps]), device=device),
    )
    actions = torch.tensor([step.action for step in steps], device=device)
    gain = torch.tensor(gains(episodes, options.discount), device=device)
    loss = -(gain / (gain.std() + 1e-8) * chosen.log_prob(actions)).mean()
    loss = loss - options.entropy * chosen.entropy().mean()
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
    optimiser.step()


def gains(episodes: list[list[Step]], discount: float) -> list[float]:
    """Return by how much each action's episode went better from there on than the others.

    An episode that was cut short by a failure earned nothing after it.
    """
    returns = np.zeros((len(episodes), max(map(len, episodes)) + 1), np.float32)
    for row, episode in enumerate(episodes):
        for t in reversed(range(len(episode))):
            returns[row, t] = episode[t].reward + discount * returns[row, t + 1]
    others = (returns.sum(0) - returns) / (len(episodes) - 1)
    gain = returns - others
    return [float(gain[row, t]) for row, steps in enumerate(episodes) for t in range(len(steps))]


def _sum(rows: torch.Tensor, index: torch.Tensor, size: int) -> torch.Tensor:
    """Return the sums of the rows that have the same index."""
    return rows.new_zeros(size, rows.shape[1]).index_add_(0, index, rows)


def parse(arguments: list[str] | None = None) -> Options:
    """Return the options of a command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for item in dataclasses.fields(Options):
        name, help = f"--{item.name.replace('_', '-')}", item.metadata["help"]
        if isinstance(item.default, tuple):
            parser.add_argument(name, help=help, nargs="*", default=item.default)
        else:
            parser.add_argument(name, help=help, default=item.default, type=type(item.default))
    return Options(**vars(parser.parse_args(arguments)))


def main() -> None:
    """Learn and report."""
    options = parse()
    policy, _ = train(options, lambda update: print(json.dumps(update)))
    for program, earned in evaluate(policy, options, options.test).items():
        print(f"{earned:8.3f}  {program}")


if __name__ == "__main__":
    main()
