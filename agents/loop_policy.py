# SPDX-License-Identifier: MIT
"""Learn how to schedule matmuls, and compare what was learnt with searches on other sizes.

    python agents/loop_policy.py --train_seconds 60 --seconds 0.5,5
    python agents/loop_policy.py --results found.json --minutes 4   # again and again, until done

The policy is a table: how likely each action is at each step. It is learnt by the cross-entropy
method on LoopTune's training sizes, from the model without a clock, so that nothing is timed and
the same seed learns the same. On a program it plays the likeliest actions, then draws from the
table until its time is up. It is compared with random actions, with greedy and beam searches
that time every nest, and with one that ranks nests by the model and times the best; none of
them knows another program. Time is this process's processor time, so that what else the machine
does counts little. What a method found is timed once more, in turns with the first nest: that
ratio is its score. numpy is all that it needs.
"""

import argparse
import dataclasses
import itertools
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np

import compiler_gym

__all__ = ["METHODS", "LoopPolicy", "Options", "Trial", "main", "parse"]

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
    seconds: str = option("0.5,5", "how long each method may search on a program, in turn")
    programs: int = option(25, "programs to test on")
    long_seconds: float = option(60.0, "how long each may search on a few of them")
    long_programs: int = option(0, "on how many, from the smallest to the largest")
    results: str = option("", "a file that keeps what was found, and is gone on with")
    minutes: float = option(math.inf, "stop after that many minutes; the next run goes on")
    length: int = option(16, "actions in a sequence, and changes of a searched nest")
    population: int = option(160, "sequences drawn before the table is changed")
    elite: float = option(0.1, "the share of them that it is moved towards")
    rate: float = option(0.3, "how far it is moved")
    seed: int = option(0, "seeds all that is drawn")

    @property
    def budgets(self) -> list[float]:
        """The seconds that every program is given, ascending."""
        return sorted(float(word) for word in self.seconds.split(","))


class LoopPolicy:
    """How likely each action is at each step."""

    def __init__(self, options: Options, names: Sequence[str]) -> None:
        self.options = options
        self.names = list(names)
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
        end, tried = time.process_time() + seconds, 0
        options = self.options
        few = max(1, round(options.elite * options.population))
        while time.process_time() < end and rounds > 0:
            rounds -= 1
            chosen = self.draw.choice(len(programs), size=2, replace=False)
            drawn = [self.sequence() for _ in range(options.population)]
            earned = np.zeros(len(drawn))
            for at in chosen:
                program = str(programs[int(at)])
                earned += [math.log(modelled(env, program, actions)) for actions in drawn]
            best = [drawn[int(at)] for at in earned.argsort()[-few:]]
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


class TimeUp(Exception):
    """A search has had its time."""


@dataclass(frozen=True, slots=True)
class Nest:
    """What a sequence of actions leads to."""

    actions: tuple[int, ...]
    tree: str
    cursor: int
    model: float
    """GFLOPS by the model without a clock."""

    @property
    def loops(self) -> int:
        """How many loops it has."""
        return self.tree.count("for ")


@dataclass(slots=True)
class Trial:
    """One method on one program: the time that is left, and what was found when."""

    env: Any
    program: str
    policy: LoopPolicy
    seconds: float
    began: float = field(default_factory=time.process_time)
    found: list[tuple[float, float, tuple[int, ...]]] = field(
        default_factory=list[tuple[float, float, tuple[int, ...]]]
    )
    """Seconds, GFLOPS and actions of each nest that was better than all before."""
    seen: dict[tuple[int, ...], Nest] = field(default_factory=dict[tuple[int, ...], Nest])
    timed: dict[str, float] = field(default_factory=dict[str, float])

    def measure(self, actions: Sequence[int]) -> float:
        """Return the measured GFLOPS after `actions`; 0 where the nest was not run."""
        self.check()
        gflops = measured(self.env, self.program, list(actions))
        elapsed = time.process_time() - self.began
        if elapsed <= self.seconds and gflops > max((best for _, best, _ in self.found), default=0):
            self.found.append((elapsed, gflops, tuple(actions)))
        return gflops

    def time(self, nest: Nest) -> float:
        """Return the measured GFLOPS of `nest`: equal trees are timed once."""
        if nest.tree not in self.timed:
            self.timed[nest.tree] = self.measure(nest.actions)
        return self.timed[nest.tree]

    def look(self, actions: tuple[int, ...]) -> Nest:
        """Return what `actions` lead to, by the model."""
        if actions not in self.seen:
            self.check()
            self.env.reset(benchmark=self.program)
            spaces = ["loop_tree", "action_state", "flops_deterministic"]
            tree, state, model = self.env.multistep(list(actions), observation_spaces=spaces)[0]
            self.seen[actions] = Nest(actions, tree, int(state[0]), model)
        return self.seen[actions]

    def after(self, level: Sequence[Nest]) -> list[Nest]:
        """Return what one change at any loop makes of each nest, equal trees once."""
        names = self.policy.names
        up, down = names.index("up"), names.index("down")
        changes = [at for at in self.policy.actions if at not in (up, down)]
        found: dict[str, Nest] = {}
        for nest in level:
            for loop, change in itertools.product(range(nest.loops), changes):
                way = (down if loop > nest.cursor else up,) * abs(loop - nest.cursor)
                other = self.look((*nest.actions, *way, change))
                found.setdefault(other.tree, other)
        return list(found.values())

    def check(self) -> None:
        """End the search where its time is up."""
        if time.process_time() - self.began > self.seconds:
            raise TimeUp

    def best(self, seconds: float) -> tuple[int, ...]:
        """Return the actions of the best nest that was found within `seconds`."""
        return next((way for at, _, way in reversed(self.found) if at <= seconds), ())


def learnt(trial: Trial) -> None:
    """Play the likeliest actions, then what is drawn from the table."""
    for actions in trial.policy.sequences():
        trial.measure(actions)


def random_actions(trial: Trial) -> None:
    """Play sequences of any length of actions that are all as likely."""
    policy = trial.policy
    while True:
        length = policy.draw.integers(1, policy.options.length + 1)
        trial.measure([int(action) for action in policy.draw.choice(policy.actions, size=length)])


def greedy(trial: Trial) -> None:
    """Time what every change at every loop makes, and go on with the best nest."""
    beam(trial, 1)


def beam(trial: Trial, width: int = 4) -> None:
    """Time what every change at every loop makes, and go on with the best nests."""
    level = [trial.look(())]
    known = {level[0].tree}
    for _ in range(trial.policy.options.length):
        others = [nest for nest in trial.after(level) if nest.tree not in known]
        known |= {nest.tree for nest in others}
        level = sorted(others, key=trial.time, reverse=True)[:width]


def guided(trial: Trial) -> None:
    """Rank what every change at every loop makes by the model, and time the best alone.

    First with one nest that is gone on with, then with 2, 4, 8, ... as long as there is time.
    """
    for width in (2**power for power in itertools.count()):
        level = [trial.look(())]
        known = {level[0].tree}
        for _ in range(trial.policy.options.length):
            others = [nest for nest in trial.after(level) if nest.tree not in known]
            known |= {nest.tree for nest in others}
            level = sorted(others, key=lambda nest: nest.model, reverse=True)[:width]
            for nest in level:
                trial.time(nest)


METHODS: dict[str, Callable[[Trial], None]] = {
    "learnt": learnt,
    "random": random_actions,
    "greedy": greedy,
    "beam of 4": beam,
    "beam on the model": guided,
}
"""What is compared."""


def speedups(trial: Trial, method: Callable[[Trial], None], budgets: list[float]) -> list[float]:
    """Return how many times as fast the first nest became within each of the budgets."""
    try:
        method(trial)
    except TimeUp:
        pass
    return [confirmed(trial.env, trial.program, trial.best(seconds)) for seconds in budgets]


def confirmed(env: Any, program: str, actions: Sequence[int]) -> float:
    """Return how many times as fast as the first nest the one after `actions` is, in turns."""
    env.reset(benchmark=program)
    env.timing_seconds = 0.05
    (gain, facts), *_ = env.multistep(list(actions), observation_spaces=["flops_gain", "timing"])
    if not gain:
        return 1.0
    now = facts["gflops"]
    return max(1.0, now / (now - gain))


def compare(
    env: Any, policy: LoopPolicy, results: dict[str, Any], save: Callable[[], None]
) -> None:
    """Fill `results` with the speed-ups of each method on each program, as long as there is time.

    A method is begun once for each program and its largest budget; what it had found earlier
    counts for the smaller ones.
    """
    options = policy.options
    end = time.monotonic() + 60 * options.minutes
    programs: list[str] = list(
        itertools.islice(env.datasets[TEST].benchmark_uris(), options.programs)
    )
    spread = np.linspace(0, len(programs) - 1, options.long_programs).round().astype(int)
    long = [(programs[int(at)], [*options.budgets, options.long_seconds]) for at in spread]
    # Long ones last, in the order of their programs: what is there early is a whole table.
    work = [(program, options.budgets) for program in programs] + long
    for (program, budgets), (name, method) in itertools.product(work, METHODS.items()):
        known = results["speedups"].setdefault(program, {}).setdefault(name, {})
        if f"{budgets[-1]:g}" in known:
            continue
        if time.monotonic() > end:
            return
        trial = Trial(env, program, policy, budgets[-1])
        found = speedups(trial, method, budgets)
        known |= {f"{s:g}": round(x, 2) for s, x in zip(budgets, found, strict=True)}
        save()


def table(results: dict[str, Any]) -> list[tuple[str, str, int, float, float, float]]:
    """Return rows: method, seconds, programs, and the speed-ups' geometric mean, least and most.

    Programs on which a method has not had that long yet are left out.
    """
    all_found = [
        [by[name] for name in METHODS]
        for by in results["speedups"].values()
        if by.keys() >= METHODS.keys()
    ]
    budgets = {seconds for found in all_found for one in found for seconds in one}
    rows: list[tuple[str, str, int, float, float, float]] = []
    for seconds in sorted(budgets, key=float):
        whole = [found for found in all_found if all(seconds in one for one in found)]
        for number, name in enumerate(METHODS):
            mine = [found[number][seconds] for found in whole]
            if mine:
                rows.append((name, seconds, len(mine), geometric_mean(mine), min(mine), max(mine)))
    return rows


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Learn, compare and print the table; return what was found."""
    options = parse(words)
    path = Path(options.results) if options.results else None
    results: dict[str, Any] = {"policy": None, "speedups": {}}
    if path is not None and path.exists():
        results = json.loads(path.read_text(encoding="utf-8"))

    def save() -> None:
        if path is not None:
            path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

    with compiler_gym.make(
        "loop_tool-v0",
        action_space="loops",
        observation_space=None,
        reward_space=None,
        isolation="in-process",
    ) as env:
        policy = LoopPolicy(options, env.action_space.names)
        if results["policy"] is None:
            train = list(env.datasets[TRAIN].benchmark_uris())
            tried = policy.train(env, train, options.train_seconds)
            results["policy"] = policy.table.round(4).tolist()
            results["sequences"], results["train_seconds"] = tried, options.train_seconds
            save()
        policy.table = np.array(results["policy"])
        likeliest = env.action_space.to_string(policy.likeliest())
        print(f"learnt from {results['sequences']} sequences: {likeliest}")
        compare(env, policy, results, save)
    for name, seconds, count, mean, least, most in table(results):
        print(f"{name:18} {seconds:>4} s  {count:2} x {mean:6.2f}  ({least:.2f} to {most:.2f})")
    return results


def parse(words: Sequence[str] | None = None) -> Options:
    """Return the options that a command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]  # it has one
    for one in dataclasses.fields(Options):
        parser.add_argument(
            f"--{one.name}", type=one.type, default=one.default, help=one.metadata["help"]
        )
    return Options(**vars(parser.parse_args(words)))


if __name__ == "__main__":
    main()
