# SPDX-License-Identifier: MIT
"""A policy without weights to download: actions as tokens, cloned from traces, trained by GRPO.

    python agents/token_policy.py --output runs/token-policy

It writes actions one after the other, as a language model writes words: the next one follows from
the last two and the program's features. First it repeats what our search found for the training
tasks. Then, as in GRPO, a group of episodes of one task is played, and those that did better than
the group's mean are made more likely. The judge says what it is worth on tasks held out. Numpy
alone, on one core.
"""

import argparse
import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import compiler_gym
from compiler_gym.search import run_search
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.tools.learn.integrations.learning import Recipe, learning_env
from compiler_gym_agents import AgentTask, Decisions, judge, tasks

__all__ = ["Game", "Network", "Options", "clone", "improve", "main", "parse", "traces_of"]

Array = NDArray[np.float64]
LEVELS = ("-O1", "-O2", "-O3", "-Oz")


def option(default: Any, help: str) -> Any:
    """Return a field with its help."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of."""

    output: str = option("runs/token-policy", "the folder of traces, progress and results")
    prefix: str = option("fewer-instructions/debian-sample-v0/", "how the ids of tasks begin")
    smallest: int = option(40, "instructions of the smallest program")
    largest: int = option(2_000, "instructions of the largest program")
    search_steps: int = option(400, "actions tried for each trace")
    words: int = option(14, "actions of the traces in the vocabulary, beside the levels")
    length: int = option(6, "actions in an episode")
    hidden: int = option(64, "width of the network")
    epochs: int = option(60, "passes over the traces")
    updates: int = option(60, "updates by GRPO")
    programs: int = option(8, "tasks of an update")
    group: int = option(6, "episodes of each of them")
    held_out: int = option(60, "tasks to judge on, at most")
    seed: int = option(0, "the seed")


class Network:
    """One hidden layer from an observation to the next token, trained by Adam."""

    def __init__(self, inputs: int, outputs: int, options: Options) -> None:
        self.random = np.random.default_rng(options.seed)
        self.mean, self.scale = np.zeros(inputs), np.ones(inputs)
        self.weights = [
            self.random.normal(0, inputs**-0.5, (inputs, options.hidden)),
            np.zeros(options.hidden),
            np.zeros((options.hidden, outputs)),
            np.zeros(outputs),
        ]
        self._moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self.weights]
        self._steps = 0

    def probabilities(self, seen: Array) -> tuple[Array, Array, Array]:
        """Return the normalised observations, what is hidden, and the tokens' probabilities."""
        first, bias, second, offset = self.weights
        seen = np.clip((seen - self.mean) / self.scale, -5, 5)
        hidden = np.tanh(seen @ first + bias)
        scores = hidden @ second + offset
        odds = np.exp(scores - scores.max(-1, keepdims=True))
        return seen, hidden, odds / odds.sum(-1, keepdims=True)

    def write(self, seen: Array) -> int:
        """Return a token, drawn."""
        chances = self.probabilities(seen[None])[2][0]
        return int(self.random.choice(len(chances), p=chances))

    def likeliest(self, seen: Array) -> int:
        """Return the likeliest token."""
        return int(self.probabilities(seen[None])[2][0].argmax())

    def learn(self, seen: Array, tokens: Array, worth: Array, rate: float) -> None:
        """Make `tokens` more likely where `worth` is above 0, and less where it is below."""
        seen, hidden, chances = self.probabilities(seen)
        error = chances.copy()
        error[np.arange(len(tokens)), tokens.astype(int)] -= 1
        error *= worth[:, None] / len(tokens)
        back = (error @ self.weights[2].T) * (1 - hidden**2)
        slopes = [seen.T @ back, back.sum(0), hidden.T @ error, error.sum(0)]
        self._steps += 1
        for weight, (first, second), slope in zip(self.weights, self._moments, slopes, strict=True):
            first += 0.1 * (slope - first)
            second += 0.001 * (slope**2 - second)
            step = first / (1 - 0.9**self._steps)
            weight -= rate * step / (np.sqrt(second / (1 - 0.999**self._steps)) + 1e-8)


@dataclass(frozen=True, slots=True)
class Played:
    """One episode."""

    seen: list[Array]
    tokens: list[int]
    gain: float
    """The logarithm of how many times better than the baseline the program got."""
    commandline: str


class Game:
    """Plays tasks with a vocabulary, whose last token ends an episode."""

    def __init__(self, words: Sequence[str], options: Options) -> None:
        self.words = list(words)
        recipe = Recipe(
            env="llvm-v0", action_space="PassesAndPipelines", actions=self.words, ends=True,
            savings="IrInstructionCount", episode_length=options.length, history=2,
        )  # fmt: skip
        cache = TranspositionCache()
        self.env: Any = learning_env(recipe, cache=cache, observation_space="Autophase")
        self._wins: dict[str, float] = {}

    @property
    def inputs(self) -> int:
        """How long an observation is."""
        return int(self.env.observation_space.shape[0])

    def play(self, task: AgentTask, choose: Callable[[Array], int]) -> Played:
        """Play one episode of a task."""
        seen, _ = self.env.reset(options={"benchmark": task.benchmark})
        inner = self.env.unwrapped
        if task.id not in self._wins:
            costs = inner.observation[task.goal], inner.observation[task.baseline]
            self._wins[task.id] = float(np.log(costs[0] / costs[1]))
        gain, over = -self._wins[task.id], False
        played: tuple[list[Array], list[int]] = ([], [])
        while not over:
            token = choose(seen)
            played[0].append(seen)
            played[1].append(token)
            seen, reward, ended, cut, _ = self.env.step(token)
            gain, over = gain + float(reward), ended or cut
        return Played(*played, gain, inner.commandline() if inner.actions else "")

    def close(self) -> None:
        """End the environment."""
        self.env.close()


def traces_of(chosen: Sequence[AgentTask], path: Path, steps: int) -> Iterator[dict[str, Any]]:
    """Yield what our search finds for each task; what is in the file `path` is not searched."""
    known = {}
    if path.exists():
        known = {row["task"]: row for row in map(json.loads, path.read_text().splitlines())}
    path.parent.mkdir(parents=True, exist_ok=True)
    for task in chosen:
        if task.id not in known:

            def make(task: AgentTask = task) -> Any:
                reward = task.baseline
                return compiler_gym.make(
                    task.env_id, action_space=task.action_space, reward_space=reward
                )

            (found,) = run_search(make, [task.benchmark], steps=steps, jobs=1)
            known[task.id] = {"task": task.id, "actions": list(found.action_names)}
            with path.open("a") as file:
                file.write(json.dumps(known[task.id]) + "\n")
        yield known[task.id]


def clone(
    game: Game,
    network: Network,
    chosen: Sequence[AgentTask],
    traces: Sequence[Any],
    options: Options,
) -> None:
    """Learn to repeat the traces, without the actions that are not in the vocabulary."""
    by_id = {task.id: task for task in chosen}
    end = len(game.words)
    episodes: list[Played] = []
    for trace in traces:
        known = [game.words.index(name) for name in trace["actions"] if name in game.words]
        tokens = iter([*known[: options.length - 1], end])
        episodes.append(game.play(by_id[trace["task"]], lambda _, tokens=tokens: next(tokens)))
    seen = np.array([one for episode in episodes for one in episode.seen], float)
    tokens = np.array([one for episode in episodes for one in episode.tokens], float)
    network.mean, network.scale = seen.mean(0), seen.std(0) + 0.1
    for _ in range(options.epochs):
        order = network.random.permutation(len(seen))
        for part in np.array_split(order, max(1, len(seen) // 64)):
            network.learn(seen[part], tokens[part], np.ones(len(part)), 3e-3)


def improve(
    game: Game, network: Network, chosen: Sequence[AgentTask], options: Options
) -> Iterator[float]:
    """Train by GRPO; yield the mean gain of each update's episodes."""
    for _ in range(options.updates):
        drawn = network.random.choice(len(chosen), min(options.programs, len(chosen)), False)
        batch: list[tuple[Played, float]] = []
        for number in drawn:
            group = [game.play(chosen[int(number)], network.write) for _ in range(options.group)]
            gains = np.array([played.gain for played in group])
            worth = (gains - gains.mean()) / (gains.std() + 1e-3)
            batch += zip(group, worth.tolist(), strict=True)
        seen = np.array([one for played, _ in batch for one in played.seen], float)
        tokens = np.array([one for played, _ in batch for one in played.tokens], float)
        worth = np.array([value for played, value in batch for _ in played.tokens])
        network.learn(seen, tokens, worth, 2e-3)
        yield float(np.mean([played.gain for played, _ in batch]))


def judged(game: Game, chosen: Sequence[AgentTask], choose: Callable[[Array], int]) -> Array:
    """Return the gains that the judge measures, one for each task; 0 for what is not valid."""
    return np.array([
        judge(task, Decisions(task.id, game.play(task, choose).commandline)).gain
        for task in chosen
    ])  # fmt: skip


def interval(values: Array, seed: int = 0) -> dict[str, float]:
    """Return the mean over tasks and its 95 % interval, by the bootstrap."""
    drawn = np.random.default_rng(seed).integers(0, len(values), (10_000, len(values)))
    low, high = np.quantile(values[drawn].mean(1), [0.025, 0.975])
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}


def tasks_of(split: str, options: Options) -> list[AgentTask]:
    """Return the tasks of a split whose programs are neither too small nor too large."""
    found: list[AgentTask] = []
    with compiler_gym.make("llvm-v0") as env:
        for task in tasks(split):
            if task.id.startswith(options.prefix):
                env.reset(benchmark=task.benchmark)
                size = env.observation[task.goal]
                if options.smallest <= size <= options.largest:
                    found.append(task)
    return found


def main(options: Options) -> dict[str, Any]:
    """Learn, judge, and write ``results.json``; return what is in it."""
    folder = Path(options.output)
    chosen, held_out = tasks_of("train", options), tasks_of("test", options)[: options.held_out]
    traces = list(traces_of(chosen, folder / "traces.jsonl", options.search_steps))
    counted = Counter(name for trace in traces for name in set(trace["actions"]))
    common = [name for name, _ in counted.most_common(options.words)]
    game = Game([*common, *(level for level in LEVELS if level not in common)], options)
    network = Network(game.inputs, len(game.words) + 1, options)
    gains = {"untrained": judged(game, held_out, network.write)}
    clone(game, network, chosen, traces, options)
    gains["cloned"] = judged(game, held_out, network.likeliest)
    print(f"cloned: {interval(gains['cloned'])}", flush=True)
    progress: list[float] = []
    for gain in improve(game, network, chosen, options):
        progress.append(gain)
        print(f"update {len(progress)}: {gain:+.4f}", flush=True)
    gains["trained"] = judged(game, held_out, network.likeliest)
    level = game.words.index("-Oz")
    always = judged(game, held_out, _alternating(level, len(game.words)))
    game.close()
    results = {
        "options": dataclasses.asdict(options),
        "training_tasks": len(chosen),
        "held_out_tasks": len(held_out),
        "words": game.words,
        "progress": progress,
        **{name: interval(values) for name, values in {**gains, "-Oz": always}.items()},
        "cloned - untrained": interval(gains["cloned"] - gains["untrained"]),
        "trained - untrained": interval(gains["trained"] - gains["untrained"]),
        "trained - cloned": interval(gains["trained"] - gains["cloned"]),
        "better than the baseline": int((gains["trained"] > 0).sum()),
        "worse than the baseline": int((gains["trained"] < 0).sum()),
    }
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    return results


def _alternating(*tokens: int) -> Callable[[Array], int]:
    made = 0

    def choose(_: Array) -> int:
        nonlocal made
        made += 1
        return tokens[(made - 1) % len(tokens)]

    return choose


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Return the options that a command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for item in dataclasses.fields(Options):
        parser.add_argument(
            f"--{item.name}", type=item.type, default=item.default, help=item.metadata["help"]
        )
    return Options(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    for what, found in main(parse()).items():
        if isinstance(found, dict) and "mean" in found:
            print(f"{what}: {found['mean']:+.4f} [{found['low']:+.4f}, {found['high']:+.4f}]")
