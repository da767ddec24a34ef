# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false
# PyTorch and matplotlib are partially typed, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false
"""A zoo of baseline agents: the same programs and budget for each, and a score on unseen programs.

python agents/zoo.py maskable-ppo                   train three seeds and print the scores
python agents/zoo.py all --output zoo.json          every agent; several minutes
python agents/zoo.py plot --output zoo.json         draw the curves into zoo.svg

Every agent trains for the same number of steps on `TRAIN`, with all passes of `llvm-v0` and 20
passes in an episode. A score is the reward of one episode without exploration on a program of
`TEST`, in shares of what `clang -Oz` saves; its mean over `TEST` is printed.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback

from compiler_gym.tools.learn.integrations.learning import learning_env, learning_vec
from compiler_gym.tools.learn.integrations.sb3 import as_sb3

TRAIN = [f"cbench-v1/{name}" for name in "crc32 sha bitcount stringsearch adpcm dijkstra".split()]
TEST = [f"cbench-v1/{name}" for name in ("qsort", "patricia", "blowfish", "rijndael", "gsm")]
_REPLAY = {
    "learning_starts": 512,
    "train_freq": 4,
    "buffer_size": 8192,
    "exploration_fraction": 0.4,
}


@dataclass(frozen=True)
class Options:
    """The settings of a run; each is an option of the command line."""

    steps: int = 8192
    """Passes to train with."""
    seeds: int = 3
    """Trainings, each with its own seed."""
    rows: int = 4
    """Environments that train together."""
    points: int = 4
    """Evaluations during a training, the last one at its end."""


@dataclass
class Curve:
    """The held-out score of one training."""

    agent: str
    seed: int
    steps: list[int] = field(default_factory=list[int])
    scores: list[float] = field(default_factory=list[float])
    """Mean score on `TEST` after each number of steps."""
    seconds: float = 0.0
    """Wall time of the training, without the evaluations."""


def play(choose: Callable[[Any, Any], int], benchmark: str) -> tuple[float, list[str]]:
    """Return the reward and the passes of one episode; `choose` maps (observation, mask)."""
    with closing(learning_env(benchmark=benchmark)) as env:
        observation, _ = env.reset(seed=0)
        total, is_over = 0.0, False
        while not is_over:
            mask = env.get_wrapper_attr("action_masks")()
            step = env.step(choose(observation, mask))
            observation, reward, terminated, truncated, _ = step
            total += float(reward)
            is_over = terminated or truncated
        unwrapped: Any = env.unwrapped
        return total, [unwrapped.action_space.names[action] for action in unwrapped.actions]


def score(choose: Callable[[Any, Any], int]) -> float:
    """Return the mean reward on `TEST` of one episode each."""
    return statistics.fmean(play(choose, benchmark)[0] for benchmark in TEST)


def choose_with(model: Any, observation: Any, mask: Any) -> int:
    """Return the action that a trained model prefers."""
    masks = {"action_masks": mask} if isinstance(model, MaskablePPO) else {}
    return int(model.predict(observation, deterministic=True, **masks)[0])


class Evaluations(BaseCallback):
    """Scores the model at equal distances."""

    def __init__(self, curve: Curve, options: Options) -> None:
        super().__init__()
        self.curve = curve
        self.distance = options.steps // options.points
        self.seconds = 0.0
        """Time that evaluations took."""

    def _on_step(self) -> bool:
        if self.num_timesteps >= self.distance * (len(self.curve.steps) + 1):
            begin = time.monotonic()
            self.curve.steps.append(self.num_timesteps)
            self.curve.scores.append(score(partial(choose_with, self.model)))
            self.seconds += time.monotonic() - begin
        return True


def fit(
    name: str, algorithm: Any, settings: Mapping[str, Any], seed: int, options: Options
) -> tuple[Curve, Any]:
    """Train one agent with one seed; return its curve and the model."""
    curve = Curve(name, seed)
    evaluations = Evaluations(curve, options)
    envs = as_sb3(learning_vec(options.rows, sampler=TRAIN))
    begin = time.monotonic()
    model = algorithm("MlpPolicy", envs, device="cpu", seed=seed, **settings)
    model.learn(options.steps, callback=evaluations)
    curve.seconds = time.monotonic() - begin - evaluations.seconds
    envs.close()
    return curve, model


def act_randomly(name: str, seed: int, options: Options) -> Curve:
    """Return a flat curve: the score of passes drawn from the mask, without any training."""
    generator = np.random.default_rng(seed)
    value = score(lambda _, mask: int(generator.choice(np.flatnonzero(mask))))
    return Curve(name, seed, [options.steps], [value])


LEARNERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "maskable-ppo": (MaskablePPO, {"n_steps": 128, "batch_size": 128}),
    "ppo": (PPO, {"n_steps": 128, "batch_size": 128}),
    "a2c": (A2C, {"n_steps": 16}),
    "dqn": (DQN, _REPLAY),
    "qr-dqn": (QRDQN, _REPLAY),
}
"""The algorithm and the settings of each agent that learns."""
AGENTS: dict[str, Callable[[str, int, Options], Curve]] = {
    "random": act_randomly,
    **{
        name: lambda agent, seed, options: fit(agent, *LEARNERS[agent], seed, options)[0]
        for name in LEARNERS
    },
}


def plot(curves: list[Curve], path: Path) -> None:
    """Draw the mean curve of each agent, and the range over seeds."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name in dict.fromkeys(curve.agent for curve in curves):
        own = [curve for curve in curves if curve.agent == name]
        scores = np.array([curve.scores for curve in own])
        if name == "random":
            axes.axhline(scores.mean(), color="gray", linestyle="--", label=name)
            continue
        (line,) = axes.plot(own[0].steps, scores.mean(axis=0), marker="o", label=name)
        axes.fill_between(
            own[0].steps, scores.min(0), scores.max(0), alpha=0.15, color=line.get_color()
        )
    axes.axhline(1.0, color="black", linewidth=0.8, label="clang -Oz")
    axes.set(
        xlabel="steps of training", ylabel="share of -Oz's saving, unseen programs", ylim=(0, 1.1)
    )
    axes.legend(loc="lower right", ncols=2)
    figure.savefig(path)


def main() -> None:
    """Read the command line, train, and print a line for each training."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("agent", choices=[*AGENTS, "all", "plot"])
    parser.add_argument("--output", type=Path, help="file to add the curves to, or to plot")
    for name, value in asdict(Options()).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    arguments = parser.parse_args()
    stored: list[Curve] = []
    if arguments.output and arguments.output.exists():
        stored = [Curve(**curve) for curve in json.loads(arguments.output.read_text())]
    if arguments.agent == "plot":
        return plot(stored, arguments.output.with_suffix(".svg"))
    options = Options(**{name: getattr(arguments, name) for name in asdict(Options())})
    torch.set_num_threads(1)  # quickest for networks this small
    for name in AGENTS if arguments.agent == "all" else [arguments.agent]:
        for seed in range(options.seeds):
            curve = AGENTS[name](name, seed, options)
            scores = " ".join(f"{value:.2f}" for value in curve.scores)
            print(f"{name:13} seed {seed}: {scores}  ({curve.seconds:.0f} s)", flush=True)
            stored.append(curve)
            if arguments.output:
                text = json.dumps([asdict(curve) for curve in stored], indent=1)
                arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
