# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
# PyTorch has no types for much of what it gives, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false
"""Deep Q-learning in one file, with PyTorch and nothing else.

    python agents/dqn.py --train cbench-v1/crc32 --test cbench-v1/crc32 --steps 5000

Double Q-learning with a replay buffer and a slowly following target network. Actions
known to do nothing are never chosen. A GPU is used when there is one.
"""

import argparse
import copy
import dataclasses
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Discrete
from torch import nn

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
    steps: int = option(5_000, "compiler actions to learn from")
    envs: int = option(2, "environments at a time")
    episode: int = option(16, "actions in an episode")
    buffer: int = option(20_000, "steps that are remembered")
    batch: int = option(64, "steps that are learned from at a time")
    learning_rate: float = option(1e-3, "the step size")
    discount: float = option(0.99, "what a reward is worth one step later")
    follow: float = option(0.02, "how far the target network follows at each step")
    explore: float = option(0.5, "the share of steps over which exploration falls")
    least: float = option(0.05, "the chance of a random action after that")
    hidden: int = option(128, "units of each of two layers")
    seed: int = option(0, "of everything that is random")


def train(options: Options, report: Any = None) -> tuple[nn.Module, list[float]]:
    """Return a network of action values and the rewards of the episodes in order."""
    torch.manual_seed(options.seed)
    generator = random.Random(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vector = learning_vec(options.envs, recipe(options), sampler=list(options.train) or None)
    try:
        size = int(np.prod(vector.single_observation_space.shape or ()))
        actions = vector.single_action_space
        assert isinstance(actions, Discrete)
        values = _network(size, int(actions.n), options.hidden).to(device)
        return values, _train(vector, values, options, generator, report)
    finally:
        vector.close()


def evaluate(values: nn.Module, options: Options, programs: Sequence[str]) -> dict[str, float]:
    """Return what one episode of the best actions earns, by program."""
    earned: dict[str, float] = {}
    with learning_env(recipe(options)) as env:
        for program in programs:
            seen, _ = env.reset(seed=options.seed, options={"benchmark": program})
            total, ended = 0.0, False
            while not ended:
                action = _best(values, seen[None], _masks([env]))[0]
                seen, reward, terminated, truncated, _ = env.step(int(action))
                total, ended = total + float(reward), terminated or truncated
            earned[program] = total
    return earned


def recipe(options: Options) -> Recipe:
    """Return how the environments are set up."""
    return Recipe(options.env, options.actions, episode_length=options.episode)


def _train(
    vector: Any, values: nn.Module, options: Options, generator: random.Random, report: Any
) -> list[float]:
    target = copy.deepcopy(values)
    optimiser = torch.optim.Adam(values.parameters(), lr=options.learning_rate)
    buffer: list[tuple[Any, ...]] = []
    seen = vector.reset(seed=options.seed)[0]
    running, finished = np.zeros(options.envs), []
    rounds = options.steps // options.envs
    for number in range(rounds):
        masks = _masks(vector.envs)
        chance = max(options.least, 1 - number / (options.explore * rounds))
        actions = _best(values, seen, masks)
        for row in range(options.envs):
            if generator.random() < chance:
                actions[row] = generator.choice(np.flatnonzero(masks[row]).tolist())
        after, rewards, terminated, truncated, infos = vector.step(actions)
        ended = terminated | truncated
        for row in range(options.envs):
            last = infos["final_obs"][row] if ended[row] else after[row]
            step = (seen[row], actions[row], rewards[row], last, terminated[row])
            buffer.append(step)
        del buffer[: -options.buffer]
        running += rewards
        finished += running[ended].tolist()
        if report is not None and ended.any():
            report({"steps": (number + 1) * options.envs, "episode_reward": finished[-1]})
        running[ended] = 0.0
        seen = after
        if len(buffer) >= 4 * options.batch:
            _learn(values, target, optimiser, generator.sample(buffer, options.batch), options)
    return finished


def _learn(
    values: nn.Module,
    target: nn.Module,
    optimiser: torch.optim.Optimizer,
    steps: list[tuple[Any, ...]],
    options: Options,
) -> None:
    device = next(values.parameters()).device
    seen, action, reward, after, ended = (
        torch.as_tensor(np.array(column), device=device) for column in zip(*steps, strict=True)
    )
    with torch.no_grad():
        best = values(after.float()).argmax(1, keepdim=True)
        future = target(after.float()).gather(1, best).squeeze(1)
        wanted = reward.float() + options.discount * future * ~ended
    found = values(seen.float()).gather(1, action[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(found, wanted)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), values.parameters(), strict=True):
            slow.lerp_(fast, options.follow)


def _best(values: nn.Module, seen: Any, masks: Any) -> Any:
    device = next(values.parameters()).device
    with torch.no_grad():
        found = values(torch.as_tensor(np.asarray(seen), dtype=torch.float32, device=device))
    return np.where(masks, found.cpu().numpy(), -np.inf).argmax(1)


def _masks(envs: list[Any]) -> Any:
    return np.stack([env.get_wrapper_attr("action_masks")() for env in envs])


def _network(size: int, out: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(size, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, out),
    )


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
    values, _ = train(options, lambda line: print(json.dumps(line)))
    for program, earned in evaluate(values, options, options.test).items():
        print(f"{earned:8.3f}  {program}")


if __name__ == "__main__":
    main()
