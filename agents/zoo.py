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

Episodes begin after the pipeline of ``clang -Oz`` and are worth their best prefix, so what an agent
earns is what it learned to do better. Every agent may run the same number of passes on `TRAIN`,
with all passes of `llvm-v0`, 20 in an episode. A score is the share of instructions, in per cent,
that one episode without exploration saves over ``clang -Oz``, in the mean over `TEST`.
``fixed-list`` ignores observations: it is the list of passes that saves most on `TRAIN`, and the
line that a policy must beat.
"""

import argparse
import atexit
import json
import math
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

from compiler_gym.registration import make
from compiler_gym.tools.learn.integrations.learning import Recipe, learning_env, learning_vec
from compiler_gym.tools.learn.integrations.sb3 import as_sb3

TRAIN = [f"cbench-v1/{name}" for name in "crc32 sha bitcount stringsearch adpcm dijkstra".split()]
TEST = [f"cbench-v1/{name}" for name in ("qsort", "patricia", "blowfish", "rijndael", "gsm")]
TASK = Recipe(savings="IrInstructionCount", keeps_best=True)
_FOLDER = Path(tempfile.mkdtemp(prefix="zoo-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
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


@cache
def compile_with_oz(benchmark: str) -> str:
    """Return the address of `benchmark` after the pipeline of ``clang -Oz``."""
    path = _FOLDER / f"{benchmark.replace('/', '-')}.bc"
    with make("llvm-tails-v0") as env:  # whose reset runs this pipeline
        env.reset(benchmark=benchmark)
        path.write_bytes(env.observation["Bitcode"])
    return path.as_uri()


def play(choose: Callable[[Any, Any, int], int], benchmark: str) -> tuple[float, list[str]]:
    """Return the per cent of instructions that an episode saves, and its best prefix.

    `choose` maps an observation, a mask and the number of the step to an action.
    """
    with closing(learning_env(TASK, benchmark=compile_with_oz(benchmark))) as env:
        observation, _ = env.reset(seed=0)
        total, length, is_over = 0.0, 0, False
        unwrapped: Any = env.unwrapped
        while not is_over:
            mask = env.get_wrapper_attr("action_masks")()
            action = choose(observation, mask, len(unwrapped.actions))
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            length = len(unwrapped.actions) if reward else length
            is_over = terminated or truncated
        names = [unwrapped.action_space.names[action] for action in unwrapped.actions[:length]]
        return 100 * -math.expm1(-total), names


def score(choose: Callable[[Any, Any, int], int]) -> float:
    """Return the mean on `TEST` of what one episode each saves, in per cent."""
    return statistics.fmean(play(choose, benchmark)[0] for benchmark in TEST)


def choose_with(model: Any, observation: Any, mask: Any, _: int) -> int:
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
    programs = [compile_with_oz(benchmark) for benchmark in TRAIN]
    envs = as_sb3(learning_vec(options.rows, TASK, sampler=programs))
    envs = VecNormalize(envs, norm_obs=False)  # rewards are hundredths
    begin = time.monotonic()
    model = algorithm("MlpPolicy", envs, device="cpu", seed=seed, **settings)
    model.learn(options.steps, callback=evaluations)
    curve.seconds = time.monotonic() - begin - evaluations.seconds
    envs.close()
    return curve, model


def act_randomly(name: str, seed: int, options: Options) -> Curve:
    """Return a flat curve: the score of passes drawn from the mask, without any training."""
    generator = np.random.default_rng(seed)
    value = score(lambda _, mask, __: int(generator.choice(np.flatnonzero(mask))))
    return Curve(name, seed, [options.steps], [value])


def find_fixed_list(steps: int) -> list[int]:
    """Return the actions that greedily save most on `TRAIN`; every pass that is tried counts."""
    with ExitStack() as stack:
        envs = [stack.enter_context(make(TASK.env)) for _ in TRAIN]
        for env, benchmark in zip(envs, TRAIN, strict=True):
            env.reset(benchmark=compile_with_oz(benchmark))
        count = int(envs[0].action_space.n)
        least = np.array([env.observation["IrInstructionCount"] for env in envs], dtype=float)
        chosen: list[int] = []
        for _ in range(max(1, steps // (count * len(envs)))):
            sizes = np.array([[try_action(env, action) for env in envs] for action in range(count)])
            savings = np.log(least / np.minimum(least, sizes)).mean(axis=1)
            best = int(savings.argmax())
            if chosen and savings[best] == 0:
                break
            chosen.append(best)
            least = np.minimum(least, sizes[best])
            for env in envs:
                env.step(best)
        return chosen


def try_action(env: Any, action: int) -> float:
    """Return the instructions that a pass leaves; infinity if it fails."""
    with env.fork() as trial:
        _, _, _, is_failed, _ = trial.step(action)
        return math.inf if is_failed else float(trial.observation["IrInstructionCount"])


def act_by_list(name: str, seed: int, options: Options) -> Curve:
    """Return a flat curve: the score of one list of passes for all programs."""
    begin = time.monotonic()
    chosen = find_fixed_list(options.steps)
    seconds = time.monotonic() - begin
    value = score(lambda _, __, number: chosen[min(number, len(chosen) - 1)])
    return Curve(name, seed, [options.steps], [value], seconds)


LEARNERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "maskable-ppo": (MaskablePPO, {"n_steps": 128, "batch_size": 128}),
    "ppo": (PPO, {"n_steps": 128, "batch_size": 128}),
    "a2c": (A2C, {"n_steps": 16}),
    "dqn": (DQN, _REPLAY),
    "qr-dqn": (QRDQN, _REPLAY),
}
"""The algorithm and the settings of each agent that learns."""
FLAT: dict[str, Callable[[str, int, Options], Curve]] = {
    "random": act_randomly,
    "fixed-list": act_by_list,
}
"""Agents without a policy network."""
AGENTS: dict[str, Callable[[str, int, Options], Curve]] = {
    **FLAT,
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
        if name in FLAT:
            color, style = ("gray", "--") if name == "random" else ("black", "-")
            axes.axhline(scores.mean(), color=color, linestyle=style, label=name)
            continue
        (line,) = axes.plot(own[0].steps, scores.mean(axis=0), marker="o", label=name)
        axes.fill_between(
            own[0].steps, scores.min(0), scores.max(0), alpha=0.15, color=line.get_color()
        )
    axes.set(
        xlabel="steps of training",
        ylabel="instructions saved over clang -Oz, %,\nunseen programs",
    )
    axes.set_ylim(bottom=0)
    figure.legend(loc="outside upper center", ncols=4)
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
        for seed in range(1 if name == "fixed-list" else options.seeds):
            curve = AGENTS[name](name, seed, options)
            scores = " ".join(f"{value:.2f}" for value in curve.scores)
            print(f"{name:13} seed {seed}: {scores}  ({curve.seconds:.0f} s)", flush=True)
            stored.append(curve)
            if arguments.output:
                text = json.dumps([asdict(curve) for curve in stored], indent=1)
                arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
