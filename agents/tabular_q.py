# SPDX-License-Identifier: MIT
"""Tabular Q-learning in one file: one table for one program, and nothing to install.

    python agents/tabular_q.py --program cbench-v1/crc32 --episodes 300
    compiler-gym leaderboard run llvm-ic-10s agents/tabular_q.py

A state is how far the episode is and a coarse picture of the program: the logarithms
of a few of its AutoPhase features. An action is one of a few passes that matter for
the size of code. On a leaderboard the table is learnt within the limit, and the
episode that earned most is submitted: with so few, the greedy one is often worse.
"""

import argparse
import dataclasses
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Learner", "Options", "TabularQ", "parse", "policy", "train"]

PASSES = (
    "sroa", "early-cse", "instcombine", "simplifycfg", "gvn", "dse", "adce", "sccp",
    "jump-threading", "licm", "loop-rotate", "loop-deletion", "indvars", "inline", "globaldce",
    "globalopt", "mergefunc", "reassociate", "memcpyopt", "deadargelim", "function-attrs",
)  # fmt: skip
FEATURES = ("TotalInsts", "TotalBlocks", "NumLoadInst", "NumStoreInst", "NumCallInst", "NumPHIInst")


def option(default: Any, help: str) -> Any:
    """Return a field with its help."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of."""

    env: str = option("llvm-ic-v0", "the environment")
    program: str = option("cbench-v1/crc32", "the program to learn")
    actions: tuple[str, ...] = option(PASSES, "the actions to offer; those it lacks are left out")
    episodes: int = option(300, "episodes to learn from")
    length: int = option(12, "actions in an episode")
    learning_rate: float = option(0.3, "how far a value moves at each step")
    discount: float = option(1.0, "what a reward is worth one step later")
    epsilon: float = option(0.3, "the chance of a random action at first")
    least: float = option(0.03, "the chance of a random action in the end")
    seed: int = option(0, "of everything that is random")


class Learner:
    """The table and how it learns."""

    def __init__(self, env: Any, options: Options) -> None:
        names = list(env.action_space.names)
        self.actions = [names.index(name) for name in options.actions if name in names]
        self.best: tuple[float, list[int]] = (0.0, [])
        """The most that the beginning of an episode earned, and its actions."""
        self._options = options
        self._random = random.Random(options.seed)
        self._table: dict[tuple[Any, int], float] = defaultdict(float)

    def play(self, env: Any, epsilon: float) -> float:
        """Play one episode, learn from it and return what it earned."""
        options, earned, played = self._options, 0.0, list[int]()
        seen, _ = env.reset(benchmark=env.benchmark, observation_space="AutophaseDict")
        state = _picture(seen, 0)
        for depth in range(1, options.length + 1):
            action = self._choose(state, epsilon)
            seen, reward, _, truncated, _ = env.step(action)
            if truncated:
                self._table[state, action] = -1.0
                break
            earned, played = earned + reward, [*played, action]
            if earned > self.best[0]:
                self.best = (earned, played)
            following = _picture(seen, depth)
            ahead = max(self._table[following, a] for a in self.actions)
            target = reward + (options.discount * ahead if depth < options.length else 0.0)
            self._table[state, action] += options.learning_rate * (
                target - self._table[state, action]
            )
            state = following
        return earned

    def _choose(self, state: Any, epsilon: float) -> int:
        if self._random.random() < epsilon:
            return self._random.choice(self.actions)
        return max(self.actions, key=lambda a: (self._table[state, a], self._random.random()))


def train(options: Options) -> tuple[list[float], float]:
    """Return what each episode earned, in order, and what the table earns in the end."""
    import compiler_gym

    with compiler_gym.make(options.env, benchmark=options.program) as env:
        learner = Learner(env, options)
        earned = [
            learner.play(env, _epsilon(options, episode / max(options.episodes, 1)))
            for episode in range(options.episodes)
        ]
        return earned, learner.play(env, 0.0)


@dataclass(slots=True)
class TabularQ:
    """A policy for leaderboards: learns until its limit is nearly used."""

    options: Options = field(default_factory=Options)

    def __call__(self, env: Any, meter: Any) -> None:
        """Learn on the program of `env` and leave it in the best episode."""
        learner = Learner(env, self.options)
        episodes, longest = 0, 0.0
        while not self._is_nearly_spent(meter, longest, episodes):
            started = meter.seconds
            learner.play(env, _epsilon(self.options, episodes / 200))
            longest = max(longest, meter.seconds - started)
            episodes += 1
        env.reset(benchmark=env.benchmark)
        if learner.best[1]:
            env.multistep(learner.best[1])

    def _is_nearly_spent(self, meter: Any, longest: float, episodes: int) -> bool:
        """Return whether another episode, and the replay of the best, would go too far."""
        most = meter.limit.compilations
        needed = 2 if meter.limit.per_sequence else 2 * self.options.length
        if most is not None and meter.compilations + needed > most:
            return True
        return episodes > 0 and meter.seconds_left < 2.5 * longest + 0.05


def parse(arguments: Sequence[str] | None = None) -> Options:
    """Return the options that a command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for item in dataclasses.fields(Options):
        several = isinstance(item.default, tuple)
        parser.add_argument(
            f"--{item.name.replace('_', '-')}",
            type=str if several else item.type,
            nargs="*" if several else None,
            default=item.default,
            help=item.metadata["help"],
        )
    return Options(**vars(parser.parse_args(arguments)))


def _epsilon(options: Options, progress: float) -> float:
    return max(options.least, options.epsilon * (1 - progress))


def _picture(seen: Any, depth: int) -> tuple[int, ...]:
    return (depth, *(int(seen[name]).bit_length() for name in FEATURES))


policy = TabularQ()
"""What the leaderboard runs."""

if __name__ == "__main__":
    earned, final = train(parse())
    first, last = earned[: max(len(earned) // 10, 1)], earned[-max(len(earned) // 10, 1) :]
    print(f"first episodes: {sum(first) / len(first):.3f}, last: {sum(last) / len(last):.3f}")
    print(f"the table earns {final:.3f}")
