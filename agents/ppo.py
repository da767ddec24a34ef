# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
# PyTorch has no types for much of what it gives, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUntypedBaseClass=false
"""Proximal policy optimisation in one file, with PyTorch and nothing else.

    python agents/ppo.py --train generator://csmith-v0 --test cbench-v1/crc32 --steps 20000

Learns one policy over many programs. Actions known to do nothing are masked. A GPU is
used when there is one. Reports a line per update and the test programs at the end. With
``--checkpoint FILE`` a run that was killed goes on from its last update.
"""

import argparse
import dataclasses
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
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
    action_space: str = option("", "the space they are of, the environment's own without one")
    savings: str = option("", "a cost; its relative savings are earned, not the reward")
    steps: int = option(20_000, "compiler actions to learn from")
    envs: int = option(4, "environments at a time")
    episode: int = option(16, "actions in an episode")
    horizon: int = option(64, "steps of each environment between two updates")
    epochs: int = option(4, "passes over the data of an update")
    batches: int = option(4, "parts that a pass is cut into")
    learning_rate: float = option(1e-3, "the step size at the start, falling to 0")
    discount: float = option(1.0, "what a reward is worth one step later")
    trace: float = option(0.95, "lambda of the advantage estimate")
    clip: float = option(0.2, "how far the policy may move in an update")
    entropy: float = option(0.01, "the weight of staying random")
    hidden: int = option(128, "units of each of two layers")
    masks: int = option(1, "1 hides actions known to do nothing, 0 does not")
    penalty: float = option(0.0, "what an action costs that changes nothing")
    seed: int = option(0, "of everything that is random")


class Policy(nn.Module):
    """Two small networks: what to do, and what it will earn.

    What is seen is scaled by the mean and the spread of all that was seen in training.
    """

    mean: torch.Tensor
    square: torch.Tensor
    count: torch.Tensor

    def __init__(self, size: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.actor = _network(size, hidden, actions, gain=0.01)
        self.critic = _network(size, hidden, 1, gain=1.0)
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("square", torch.ones(size))
        self.register_buffer("count", torch.zeros(()))

    def choose(self, seen: torch.Tensor, masks: torch.Tensor) -> Categorical:
        """Return the distribution over actions."""
        return Categorical(logits=self.actor(self._scaled(seen)).masked_fill(~masks, -1e9))

    def value(self, seen: torch.Tensor) -> torch.Tensor:
        """Return what is expected to be earned from here on."""
        return self.critic(self._scaled(seen)).squeeze(-1)

    def observe(self, seen: torch.Tensor) -> None:
        """Take a batch into the mean and the spread."""
        self.count += len(seen)
        share = len(seen) / self.count
        self.mean += share * (seen.mean(0) - self.mean)
        self.square += share * (seen.pow(2).mean(0) - self.square)

    def _scaled(self, seen: torch.Tensor) -> torch.Tensor:
        spread = (self.square - self.mean.pow(2)).clamp_min(1e-4).sqrt()
        return ((seen - self.mean) / spread).clamp(-5, 5)


@dataclass(slots=True)
class Update:
    """One line of the report."""

    steps: int
    episode_reward: float
    seconds: float


def train(
    options: Options, report: Any = None, *, checkpoint: Path | None = None, **arguments: Any
) -> tuple[Policy, list[Update]]:
    """Return a policy and how it went; `report` is called with each `Update`.

    `checkpoint` is a file that is written after every update and gone on from if it is
    there; `arguments` are those of `learning_vec`, a cache for example.
    """
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    arguments = {"sampler": list(options.train) or None} | arguments
    vector = learning_vec(options.envs, recipe(options), **arguments)
    try:
        policy = policy_for(vector, options).to(device)
        return policy, _train(vector, policy, options, device, report, checkpoint)
    finally:
        vector.close()


def policy_for(env: Any, options: Options) -> Policy:
    """Return a policy that has learnt nothing, for an environment or a vector of them."""
    seen = getattr(env, "single_observation_space", env.observation_space)
    actions = getattr(env, "single_action_space", env.action_space)
    return Policy(int(np.prod(seen.shape or ())), int(actions.n), options.hidden)


def evaluate(policy: Policy, options: Options, programs: Sequence[str]) -> dict[str, float]:
    """Return what one episode of the most likely actions earns, by program."""
    device = next(policy.parameters()).device
    earned: dict[str, float] = {}
    with learning_env(recipe(options)) as env:
        for program in programs:
            seen, _ = env.reset(seed=options.seed, options={"benchmark": program})
            total, ended = 0.0, False
            while not ended:
                masks = _masks([env], options, device)
                with torch.no_grad():
                    chosen = policy.choose(_tensor(seen[None], device), masks)
                seen, reward, terminated, truncated, _ = env.step(int(chosen.probs.argmax()))
                total, ended = total + float(reward), terminated or truncated
            earned[program] = total
    return earned


def recipe(options: Options) -> Recipe:
    """Return how the environments are set up."""
    return Recipe(
        options.env,
        options.actions,
        options.action_space or None,
        savings=options.savings or None,
        episode_length=options.episode,
        no_effect_penalty=options.penalty,
    )


def _train(
    vector: Any,
    policy: Policy,
    options: Options,
    device: torch.device,
    report: Any,
    checkpoint: Path | None,
) -> list[Update]:
    optimiser = torch.optim.Adam(policy.parameters(), lr=options.learning_rate, eps=1e-5)
    updates = max(options.steps // (options.envs * options.horizon), 1)
    history, finished = _load(checkpoint, policy, optimiser)
    seen = _tensor(vector.reset(seed=options.seed + 1000 * len(history))[0], device)
    running = np.zeros(options.envs)
    started = time.monotonic() - (history[-1].seconds if history else 0.0)
    for number in range(len(history), updates):
        optimiser.param_groups[0]["lr"] = options.learning_rate * (1 - number / updates)
        batch: dict[str, list[torch.Tensor]] = {}
        for _ in range(options.horizon):
            masks = _masks(vector.envs, options, device)
            with torch.no_grad():
                chosen = policy.choose(seen, masks)
                action = chosen.sample()
                value = policy.value(seen)
            after, reward, terminated, truncated, _ = vector.step(action.cpu().numpy())
            ended = terminated | truncated
            running += reward
            finished += running[ended].tolist()
            running[ended] = 0.0
            for name, item in {
                "seen": seen,
                "masks": masks,
                "action": action,
                "value": value,
                "log": chosen.log_prob(action),
                "reward": _tensor(reward, device),
                "ended": _tensor(ended, device),
            }.items():
                batch.setdefault(name, []).append(item)
            seen = _tensor(after, device)
        with torch.no_grad():
            data = {name: torch.stack(items) for name, items in batch.items()}
            advantage = _advantages(data, policy.value(seen), options)
        _improve(policy, optimiser, data, advantage, options)
        policy.observe(data["seen"].flatten(0, 1))
        steps = (number + 1) * options.envs * options.horizon
        mean = float(np.mean(finished[-50:])) if finished else float("nan")
        history.append(Update(steps, mean, time.monotonic() - started))
        _save(checkpoint, policy, optimiser, history, finished[-50:])
        if report is not None:
            report(history[-1])
    return history


def _save(
    path: Path | None,
    policy: Policy,
    optimiser: torch.optim.Optimizer,
    history: list[Update],
    finished: list[float],
) -> None:
    """Write everything that a run needs to go on, whole or not at all."""
    if path is None:
        return
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    known = {
        "policy": policy.state_dict(),
        "optimiser": optimiser.state_dict(),
        "random": torch.get_rng_state(),
        "history": [dataclasses.asdict(update) for update in history],
        "finished": finished,
    }
    torch.save(known, partial)
    partial.replace(path)


def _load(
    path: Path | None, policy: Policy, optimiser: torch.optim.Optimizer
) -> tuple[list[Update], list[float]]:
    """Return what was reported and earned so far, and set policy and optimiser to it."""
    if path is None or not path.is_file():
        return [], []
    known = torch.load(path, weights_only=True)
    policy.load_state_dict(known["policy"])
    optimiser.load_state_dict(known["optimiser"])
    torch.set_rng_state(known["random"])
    return [Update(**update) for update in known["history"]], known["finished"]


def _advantages(
    data: dict[str, torch.Tensor], last: torch.Tensor, options: Options
) -> torch.Tensor:
    """Return by how much each action did better than expected."""
    advantage, running = torch.zeros_like(data["reward"]), torch.zeros_like(last)
    following = last
    for t in reversed(range(len(advantage))):
        goes_on = 1.0 - data["ended"][t]
        surprise = data["reward"][t] + options.discount * following * goes_on - data["value"][t]
        running = surprise + options.discount * options.trace * goes_on * running
        advantage[t], following = running, data["value"][t]
    return advantage


def _improve(
    policy: Policy,
    optimiser: torch.optim.Optimizer,
    data: dict[str, torch.Tensor],
    advantage: torch.Tensor,
    options: Options,
) -> None:
    flat = {name: item.flatten(0, 1) for name, item in data.items()}
    targets = (advantage + data["value"]).flatten()
    advantage = advantage.flatten()
    size = len(advantage)
    for _ in range(options.epochs):
        for part in torch.randperm(size, device=advantage.device).chunk(options.batches):
            chosen = policy.choose(flat["seen"][part], flat["masks"][part])
            ratio = (chosen.log_prob(flat["action"][part]) - flat["log"][part]).exp()
            gain = advantage[part]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
            actor = -torch.minimum(gain * ratio, gain * clipped).mean()
            critic = (policy.value(flat["seen"][part]) - targets[part]).pow(2).mean()
            loss = actor + 0.5 * critic - options.entropy * chosen.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimiser.step()


def _network(size: int, hidden: int, out: int, *, gain: float) -> nn.Sequential:
    layers = [nn.Linear(size, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, out)]
    for layer, scale in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, scale)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


def _masks(envs: list[Any], options: Options, device: torch.device) -> torch.Tensor:
    count = int(envs[0].action_space.n)
    if not options.masks:
        return torch.ones(len(envs), count, dtype=torch.bool, device=device)
    masks = np.stack([env.get_wrapper_attr("action_masks")() for env in envs])
    return torch.as_tensor(masks, device=device)


def _tensor(array: Any, device: torch.device) -> torch.Tensor:
    return torch.as_tensor(np.asarray(array), dtype=torch.float32, device=device)


def parse(arguments: list[str] | None = None) -> Options:
    """Return the options of a command line."""
    return parse_all(arguments)[0]


def parse_all(arguments: list[str] | None = None) -> tuple[Options, Path | None]:
    """Return the options of a command line, and the file of the run's checkpoint."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for item in dataclasses.fields(Options):
        name, help = f"--{item.name.replace('_', '-')}", item.metadata["help"]
        if isinstance(item.default, tuple):
            parser.add_argument(name, help=help, nargs="*", default=())
        else:
            parser.add_argument(name, help=help, default=item.default, type=type(item.default))
    parser.add_argument("--checkpoint", type=Path, help="a file to go on from, kept up to date")
    found = vars(parser.parse_args(arguments))
    checkpoint = found.pop("checkpoint")
    found |= {name: tuple(value) for name, value in found.items() if isinstance(value, list)}
    return Options(**found), checkpoint


def main() -> None:
    """Learn and report."""
    options, checkpoint = parse_all()
    policy, _ = train(
        options,
        lambda update: print(json.dumps(dataclasses.asdict(update)), flush=True),
        checkpoint=checkpoint,
    )
    for program, earned in evaluate(policy, options, options.test).items():
        print(f"{earned:8.3f}  {program}")


if __name__ == "__main__":
    main()
