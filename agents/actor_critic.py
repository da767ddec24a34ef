# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
# PyTorch has no types for much of what it gives, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUntypedBaseClass=false
"""Advantage actor-critic in one file, with PyTorch and nothing else.

    python agents/actor_critic.py --train cbench-v1/crc32 --test cbench-v1/crc32 --steps 5000

Every few steps of all environments are learnt from once and thrown away: no memory of
old steps, no second pass, and an order of magnitude less code to get right than in
`ppo.py`. Actions known to do nothing are masked. A GPU is used when there is one.
"""

import argparse
import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from compiler_gym.tools.learn.integrations.learning import Recipe, learning_env, learning_vec


def option(default: Any, help: str) -> Any:
    """Return a field with its help."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of."""

    env: str = option("llvm-autophase-ic-v0", "the environment")
    train: tuple[str, ...] = option((), "programs and datasets to learn on")
    test: tuple[str, ...] = option((), "programs to report at the end")
    actions: tuple[str, ...] = option((), "the actions to offer, all without any")
    steps: int = option(10_000, "compiler actions to learn from")
    envs: int = option(4, "environments at a time")
    episode: int = option(16, "actions in an episode")
    horizon: int = option(8, "steps of each environment between two updates")
    learning_rate: float = option(2e-3, "the step size at the start, falling to 0")
    discount: float = option(1.0, "what a reward is worth one step later")
    critic: float = option(0.5, "the weight of what the critic got wrong")
    entropy: float = option(0.01, "the weight of staying random")
    hidden: int = option(128, "units of each of two layers")
    seed: int = option(0, "of everything that is random")


class ActorCritic(nn.Module):
    """One network with two heads: what to do, and what it will earn."""

    def __init__(self, size: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(size, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.actor = nn.Linear(hidden, actions)
        self.critic = nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)

    def forward(self, seen: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """Return the distribution over actions, and what is expected from here on."""
        features = self.body(seen)
        logits = self.actor(features).masked_fill(~masks, -1e9)
        return Categorical(logits=logits), self.critic(features).squeeze(-1)


def train(options: Options, report: Any = None) -> tuple[ActorCritic, list[float]]:
    """Return a network and the rewards of the episodes in order.

    `report` is called after each update with the steps so far and the mean reward of
    the latest episodes.
    """
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vector: Any = learning_vec(options.envs, recipe(options), sampler=list(options.train) or None)
    try:
        size = int(np.prod(vector.single_observation_space.shape or ()))
        network = ActorCritic(size, int(vector.single_action_space.n), options.hidden).to(device)
        return network, _train(vector, network, options, report)
    finally:
        vector.close()


def evaluate(network: ActorCritic, options: Options, programs: Sequence[str]) -> dict[str, float]:
    """Return what one episode of the most likely actions earns, by program."""
    device = next(network.parameters()).device
    earned: dict[str, float] = {}
    with learning_env(recipe(options)) as env:
        for program in programs:
            seen, _ = env.reset(seed=options.seed, options={"benchmark": program})
            total, ended = 0.0, False
            while not ended:
                with torch.no_grad():
                    chosen, _ = network(_tensor(seen[None], device), _masks([env], device))
                seen, reward, terminated, truncated, _ = env.step(int(chosen.probs.argmax()))
                total, ended = total + float(reward), terminated or truncated
            earned[program] = total
    return earned


def recipe(options: Options) -> Recipe:
    """Return how the environments are set up."""
    return Recipe(options.env, options.actions, episode_length=options.episode)


def _train(vector: Any, network: ActorCritic, options: Options, report: Any) -> list[float]:
    device = next(network.parameters()).device
    optimiser = torch.optim.Adam(network.parameters(), lr=options.learning_rate, eps=1e-5)
    updates = max(options.steps // (options.envs * options.horizon), 1)
    seen = _tensor(vector.reset(seed=options.seed)[0], device)
    running, finished = np.zeros(options.envs), list[float]()
    for number in range(updates):
        optimiser.param_groups[0]["lr"] = options.learning_rate * (1 - number / updates)
        kept: dict[str, list[torch.Tensor]] = {}
        for _ in range(options.horizon):
            chosen, value = network(seen, _masks(vector.envs, device))
            action = chosen.sample()
            after, reward, terminated, truncated, _ = vector.step(action.cpu().numpy())
            ended = terminated | truncated
            running += reward
            finished += running[ended].tolist()
            running[ended] = 0.0
            for name, item in {
                "log": chosen.log_prob(action),
                "entropy": chosen.entropy(),
                "value": value,
                "reward": _tensor(reward, device),
                "ended": _tensor(ended, device),
            }.items():
                kept.setdefault(name, []).append(item)
            seen = _tensor(after, device)
        with torch.no_grad():
            _, ahead = network(seen, _masks(vector.envs, device))
        _improve(network, optimiser, kept, ahead, options)
        if report is not None and finished:
            steps = (number + 1) * options.envs * options.horizon
            report({"steps": steps, "episode_reward": float(np.mean(finished[-50:]))})
    return finished


def _improve(
    network: ActorCritic,
    optimiser: torch.optim.Optimizer,
    kept: dict[str, list[torch.Tensor]],
    ahead: torch.Tensor,
    options: Options,
) -> None:
    """Take one step; a good action is one that earned more than the critic expected."""
    data = {name: torch.stack(items) for name, items in kept.items()}
    surprise = _returns(data, ahead, options.discount) - data["value"]
    gain = surprise.detach()
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    actor = -(gain * data["log"]).mean() - options.entropy * data["entropy"].mean()
    loss = actor + options.critic * surprise.pow(2).mean()
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 0.5)
    optimiser.step()


def _returns(data: dict[str, torch.Tensor], ahead: torch.Tensor, discount: float) -> torch.Tensor:
    """Return what followed each action: its rewards, and what the critic expects after them.

    Steps left are part of what the network sees, so the end of an episode is its end.
    """
    returns, running = torch.zeros_like(data["reward"]), ahead
    for t in reversed(range(len(returns))):
        running = data["reward"][t] + discount * running * (1.0 - data["ended"][t])
        returns[t] = running
    return returns


def _masks(envs: list[Any], device: torch.device) -> torch.Tensor:
    masks = np.stack([env.get_wrapper_attr("action_masks")() for env in envs])
    return torch.as_tensor(masks, device=device)


def _tensor(array: Any, device: torch.device) -> torch.Tensor:
    return torch.as_tensor(np.asarray(array), dtype=torch.float32, device=device)


def parse(arguments: list[str] | None = None) -> Options:
    """Return the options of a command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for item in dataclasses.fields(Options):
        name, help = f"--{item.name.replace('_', '-')}", item.metadata["help"]
        if isinstance(item.default, tuple):
            parser.add_argument(name, help=help, nargs="*", default=())
        else:
            parser.add_argument(name, help=help, default=item.default, type=type(item.default))
    return Options(**vars(parser.parse_args(arguments)))


def main() -> None:
    """Learn and report."""
    options = parse()
    network, _ = train(options, lambda update: print(json.dumps(update)))
    for program, earned in evaluate(network, options, options.test).items():
        print(f"{earned:8.3f}  {program}")


if __name__ == "__main__":
    main()
