# SPDX-License-Identifier: MIT
"""A small learner on families of tasks: does it improve within hundreds of episodes?

    python -m benchmarks.agent_learning        learn; write the table of the results page

The policy is one probability for each action, the same at every step, learnt by REINFORCE without
a neural network. It learns on small training tasks and is evaluated on test tasks; the reward is
the logarithm of the improvement over the task's baseline, as the judge computes it.
"""

import argparse
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import compiler_gym
from benchmarks.tables import write_table
from compiler_gym.spaces import action_names
from compiler_gym_agents import AgentTask, tasks

PAGE = Path(__file__).parents[1] / "docs" / "results" / "agents.md"
FAMILIES = ("fewer-instructions", "smaller-text", "tile-a-loop-nest")
"""The families with the same actions in all tasks."""
STEPS = 12
"""Actions in an episode."""
RATE = 0.5
TASKS = 6
SAMPLES = 4
"""Episodes for each task in an evaluation."""


@dataclass
class Policy:
    """The preferences for actions; a softmax makes them probabilities."""

    preferences: np.ndarray
    draw: np.random.Generator

    @property
    def chances(self) -> np.ndarray:
        """The probability of each action."""
        shares = np.exp(self.preferences - self.preferences.max())
        return shares / shares.sum()

    def sample(self) -> list[int]:
        """Draw the actions of an episode."""
        return self.draw.choice(len(self.preferences), STEPS, p=self.chances).tolist()

    def learn(self, actions: Sequence[int], advantage: float) -> None:
        """Make `actions` more probable, or less if the advantage is negative."""
        counts = np.bincount(actions, minlength=len(self.preferences))
        self.preferences += RATE * advantage * (counts - len(actions) * self.chances)


def play(env: Any, task: AgentTask, actions: Sequence[int]) -> float:
    """Return the reward of an episode: the logarithm of the improvement, or 0 if it failed."""
    env.reset()
    for action in actions:
        _, _, terminated, truncated, info = env.step(action)
        if info.get("error_details"):
            return 0.0
        if terminated or truncated:
            break
    goal, baseline = env.observation[task.goal], env.observation[task.baseline]
    if not goal or not baseline:
        return 0.0
    return math.log(goal / baseline if task.more_is_better else baseline / goal)


def learn(family: str, episodes: int, points: int, seed: int) -> list[float]:
    """Learn, and return the mean reward on test tasks at equal distances, from the start on."""
    train, test = (list(tasks(split, family))[:TASKS] for split in ("train", "test"))
    with ExitStack() as stack:
        envs = {
            task.id: stack.enter_context(
                compiler_gym.make(
                    task.env_id, benchmark=task.benchmark, action_space=task.action_space
                )
            )
            for task in train + test
        }
        count = len(action_names(envs[train[0].id].action_space))
        policy = Policy(np.zeros(count), np.random.default_rng(seed))
        usual: dict[str, float] = {}
        curve: list[float] = []
        for number in range(episodes + 1):
            if number % (episodes // points) == 0:
                won = [play(envs[t.id], t, policy.sample()) for t in test for _ in range(SAMPLES)]
                curve.append(mean(won))
            task = train[number % len(train)]
            actions = policy.sample()
            reward = play(envs[task.id], task, actions)
            known = usual.setdefault(task.id, reward)
            policy.learn(actions, reward - known)
            usual[task.id] = known + 0.1 * (reward - known)
    return curve


def table(curves: dict[str, list[list[float]]], episodes: int) -> str:
    """Return the mean reward of the seeds after numbers of episodes, with the least and most."""
    points = len(next(iter(curves.values()))[0]) - 1
    marks = [episodes * number // points for number in range(points + 1)]
    lines = [f"| episodes | {' | '.join(map(str, marks))} |", "|---|" + "--:|" * len(marks)]
    for family, seeds in curves.items():
        cells = [
            f"{mean(at):.3f} [{min(at):.3f}, {max(at):.3f}]" for at in zip(*seeds, strict=True)
        ]
        lines.append(f"| `{family}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Learn what the command line says, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agent_learning")
    parser.add_argument("--episodes", type=int, default=600)
    parser.add_argument("--points", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--family", action="append", choices=FAMILIES)
    options = parser.parse_args()
    curves: dict[str, list[list[float]]] = {}
    for family in options.family or FAMILIES:
        for seed in range(options.seeds):
            curve = learn(family, options.episodes, options.points, seed)
            curves.setdefault(family, []).append(curve)
            print(family, seed, *(f"{value:.3f}" for value in curve), flush=True)
    if options.family is None:
        write_table("agent-learning", table(curves, options.episodes), PAGE)


if __name__ == "__main__":
    main()
