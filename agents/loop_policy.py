# SPDX-License-Identifier: MIT
"""Learn how to schedule matmuls, and compare what was learnt with searches on other sizes.

    python agents/loop_policy.py --train_seconds 60 --seconds 0.5 --search_seconds 3

The policy is a table: how likely each action is at each step. It is learnt by the cross-entropy
method on LoopTune's training sizes, from the model without a clock, so that nothing is timed and
the same seed learns the same. On a program it plays the likeliest actions, then draws from the
table until its time is up; random actions, a greedy search and a beam search have the time that
is given to them. All measure real GFLOPS and keep the best nest. numpy is all that it needs.
"""

import argparse
import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import geometric_mean
from typing import Any

import numpy as np

import compiler_gym

__all__ = ["LoopPolicy", "Options", "beam", "main", "parse", "random_actions"]

TRAIN = "benchmark://looptune-matmul-v0"
TEST = "benchmark://looptune-matmul-test-v0"
LEFT_OUT = ("parallelise", "undo")
"""Actions that are not taken: one thread is compared, and a policy has nothing to take back."""


def option(default: Any, help: str) -> Any:
    """Return a field with its help."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of."""

    train_seconds: float = option(60.0, "seconds to learn for")
    seconds: float = option(0.5, "seconds that the policy has for each program")
    search_seconds: float = option(3.0, "seconds that each search has for each program")
    programs: int = option(25, "programs to test on")
    length: int = option(16, "actions in a sequence")
    population: int = option(160, "sequences drawn before the table is changed")
    elite: float = option(0.1, "the share of them that it is moved towards")
    rate: float = option(0.3, "how far it is moved")
    seed: int = option(0, "seeds all that is drawn")


class LoopPolicy:
    """How likely each action is at each step."""

    def __init__(self, options: Options, names: Sequence[str]) -> None:
        self.options = options
        self.actions = [at for at, name in enumerate(names) if name not in LEFT_OUT]
        self.draw = np.random.default_rng(options.seed)
        shape = (options.length, len(self.actions))
        self.table = np.full(shape, 1 / len(self.actions))

    def sequence(self) -> list[int]:
        """Return a sequence that is drawn."""
        sums = self.table.cumsum(axis=1)
        at = (self.draw.random((len(sums), 1)) * sums[:, -1:] > sums).sum(axis=1)
        return [self.actions[column] for column in at]

    def likeliest(self) -> list[int]:
        """Return the likeliest action of each step."""
        return [self.actions[column] for column in self.table.argmax(axis=1)]

    def sequences(self) -> Iterator[list[int]]:
        """Yield what to try on a program, without end."""
        yield self.likeliest()
        while True:
            yield self.sequence()

    def train(
        self, env: Any, programs: Sequence[str], seconds: float, rounds: int = 1_000_000
    ) -> int:
        """Learn from `programs` until the time is up; return how many sequences were tried.

        The table is changed at most `rounds` times.
        """
        end, tried = time.monotonic() + seconds, 0
        options = self.options
        few = max(1, round(options.elite * options.population))
        while time.monotonic() < end and rounds > 0:
            rounds -= 1
            chosen = self.draw.choice(len(programs), size=2, replace=False)
            drawn = [self.sequence() for _ in range(options.population)]
            earned = np.zeros(len(drawn))
            for at in chosen:
                program = str(programs[int(at)])
                earned += [math.log(modelled(env, program, actions)) for actions in drawn]
            best = [drawn[at] for at in earned.argsort()[-few:]]
            counts = np.zeros_like(self.table)
            for actions in best:
                for step, action in enumerate(actions):
                    counts[step, self.actions.index(action)] += 1 / few
            floor = 0.01 / len(self.actions)  # nothing becomes impossible
            self.table += options.rate * (counts - self.table)
            self.table = np.maximum(self.table, floor)
            self.table /= self.table.sum(axis=1, keepdims=True)
            tried += 2 * len(drawn)
        return tried


def modelled(env: Any, program: str, actions: list[int]) -> float:
    """Return the GFLOPS that the model without a clock gives to `program` after `actions`."""
    env.reset(benchmark=program)
    return env.multistep(actions, observation_spaces="flops_deterministic")[0]


def measured(env: Any, program: str, actions: list[int]) -> float:
    """Return the GFLOPS of `program` after `actions`; 0 where it was not run."""
    env.reset(benchmark=program)
    return env.multistep(actions, observation_spaces="flops")[0]


def best_of(env: Any, program: str, sequences: Iterator[list[int]], seconds: float) -> float:
    """Return the GFLOPS of the best nest that `sequences` lead to until the time is up."""
    end, best = time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        best = max(best, measured(env, program, next(sequences)))
    return best


def random_actions(policy: LoopPolicy) -> Iterator[list[int]]:
    """Yield sequences of any length of actions that are all as likely."""
    while True:
        length = policy.draw.integers(1, policy.options.length + 1)
        yield [int(action) for action in policy.draw.choice(policy.actions, size=length)]


def beam(env: Any, program: str, policy: LoopPolicy, width: int, seconds: float) -> float:
    """Return the best GFLOPS of a beam search; of width 1 it is greedy.

    A level of the search tries every action after each nest of the beam, and keeps the best ones.
    """
    end = time.monotonic() + seconds
    level: list[list[int]] = [[]]
    best = 0.0
    for _ in range(policy.options.length):
        found: list[tuple[float, list[int]]] = []
        for before, action in itertools.product(level, policy.actions):
            if time.monotonic() > end:
                return best
            actions = [*before, action]
            found.append((measured(env, program, actions), actions))
            best = max(best, found[-1][0])
        found.sort(key=lambda one: one[0], reverse=True)
        level = [actions for _, actions in found[:width]]
    return best


def compare(env: Any, policy: LoopPolicy) -> dict[str, list[float]]:
    """Return how many times as fast as the first nest each method makes each program."""
    options = policy.options
    short, long = options.seconds, options.search_seconds
    methods: dict[str, Callable[[str], float]] = {
        f"learnt, {short:g} s": lambda p: best_of(env, p, policy.sequences(), short),
        f"learnt, {long:g} s": lambda p: best_of(env, p, policy.sequences(), long),
        f"random, {long:g} s": lambda p: best_of(env, p, random_actions(policy), long),
        f"greedy, {long:g} s": lambda p: beam(env, p, policy, 1, long),
        f"beam of 4, {long:g} s": lambda p: beam(env, p, policy, 4, long),
    }
    programs = itertools.islice(env.datasets[TEST].benchmark_uris(), options.programs)
    speedups: dict[str, list[float]] = {name: [] for name in methods}
    for program in programs:
        base = max(measured(env, program, []) for _ in range(3))
        for name, method in methods.items():
            speedups[name].append(max(1.0, method(program) / base))
    return speedups


def main(words: Sequence[str] | None = None) -> dict[str, list[float]]:
    """Learn, compare and print the table."""
    options = parse(words)
    with compiler_gym.make(
        "loop_tool-v0",
        action_space="loops",
        observation_space=None,
        reward_space=None,
        isolation="in-process",
    ) as env:
        policy = LoopPolicy(options, env.action_space.names)
        train = list(env.datasets[TRAIN].benchmark_uris())
        tried = policy.train(env, train, options.train_seconds)
        print(f"learnt from {tried} sequences: {env.action_space.to_string(policy.likeliest())}")
        speedups = compare(env, policy)
    for name, found in speedups.items():
        print(f"{name:20} {geometric_mean(found):6.2f} x ({min(found):.2f} to {max(found):.2f})")
    return speedups


def parse(words: Sequence[str] | None = None) -> Options:
    """Return the options that a command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]  # it has one
    for one in dataclasses.fields(Options):
        parser.add_argument(
            f"--{one.name}", type=type(one.default), default=one.default, help=one.metadata["help"]
        )
    return Options(**vars(parser.parse_args(words)))


if __name__ == "__main__":
    main()
