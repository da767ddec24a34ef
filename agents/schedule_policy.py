# SPDX-License-Identifier: MIT
"""Learn schedules of tensor programs from measured times, and try them on shapes never seen.

    python agents/schedule_policy.py --seeds 3 --rounds 4 --evaluations 20

A small network reads what describes the operation at the cursor (its bounds, iterators, accesses
and arithmetic) and says how likely each legal action of `Schedule` is. It is learnt by the
cross-entropy method: episodes are drawn for each training program, their machine code is checked
and timed, and the network is moved towards the fastest schedules that are known of each. On a
program that it has not seen the agent plays what was fastest on the training programs that are most
like it, and draws from the network when it knows no more. Random actions, a greedy search and a
beam search run as many schedules there. What was measured is appended to a file, from which a run
that was ended goes on. numpy is all that it needs.
"""

import argparse
import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean, mean, stdev
from typing import Any

import numpy as np

import compiler_gym
from compiler_gym.errors import CompilerGymError

__all__ = ["TEST", "TRAIN", "Options", "Played", "Policy", "Runner", "main", "parse", "train"]

TRAIN = (
    "linalg-v0/matmul/64x64x64", "linalg-v0/matmul/96x160x64", "linalg-v0/matmul/192x192x96",
    "linalg-v0/matmul/128x384x128", "linalg-v0/matmul/320x128x320", "linalg-v0/matmul/100x300x200",
    "linalg-v0/matmul/384x384x192", "linalg-v0/matmul/128x1000x256",
    "linalg-v0/batch_matmul/4x96x96x64", "linalg-v0/batch_matmul/8x128x64x128",
    "linalg-v0/conv2d_nchw/2x48x20x20x96x1x1", "linalg-v0/conv2d_nchw/1x32x40x40x64x1x1",
    "linalg-v0/conv2d_nchw/4x96x14x14x48x1x1", "linalg-v0/conv2d_nchw/1x24x26x26x48x3x1",
    "linalg-v0/conv2d_nchw/1x48x16x16x96x3x1", "linalg-v0/conv2d_nchw/1x32x31x31x64x3x2",
    "linalg-v0/conv2d_nhwc/1x26x26x32x64x3x1", "linalg-v0/conv2d_nhwc/1x18x18x64x96x3x1",
    "linalg-v0/conv2d_nhwc/2x24x24x48x64x1x1",
    "linalg-v0/maxpool/4x48x42x42x3x2", "linalg-v0/maxpool/8x32x35x35x3x2",
    "linalg-v0/add/16x20x20x96", "linalg-v0/add/32x24x24x120", "linalg-v0/add/400x300",
    "linalg-v0/relu/300x400", "linalg-v0/relu/16x28x28x48",
)  # fmt: skip
"""What is learnt from: none of the sizes of `TEST`."""
TEST = {
    "add_256_14_14_88": "linalg-v0/add/16x14x14x88",
    "add_256_42_42_168": "linalg-v0/add/4x42x42x168",
    "add_256_7_7_2048": "linalg-v0/add/16x7x7x2048",
    "conv_2d_nchw_fchw_256_128_28_28_512_1_1": "linalg-v0/conv2d_nchw/4x128x28x28x512x1x1",
    "conv_2d_nchw_fchw_256_512_28_28_128_1_1": "linalg-v0/conv2d_nchw/4x512x28x28x128x1x1",
    "conv_2d_nchw_fchw_256_64_56_56_256_1_1": "linalg-v0/conv2d_nchw/4x64x56x56x256x1x1",
    "matmul_256_1536_1000": "linalg-v0/matmul/256x1000x1536",
    "matmul_256_256_128": "linalg-v0/matmul/256x128x256",
    "matmul_256_256_512": "linalg-v0/matmul/256x512x256",
    "matmul_256_512_1024": "linalg-v0/matmul/256x1024x512",
    "pooling_nchw_max_256_336_43_43_3": "linalg-v0/maxpool/4x336x43x43x3x2",
    "pooling_nchw_max_256_64_114_114_3": "linalg-v0/maxpool/4x64x114x114x3x2",
    "pooling_nchw_max_256_64_147_147_3": "linalg-v0/maxpool/4x64x147x147x3x2",
    "relu_256_100": "linalg-v0/relu/256x100",
    "relu_256_512": "linalg-v0/relu/256x512",
    "relu_256_57_57_64": "linalg-v0/relu/8x57x57x64",
}
"""Programs that are held out: the single operations that MLIR-RL is evaluated on, by their names,
and what is searched in their place. That is the same operation on fewer images, since a schedule
treats one like the other."""
ONCE = ("greedy", "beam of 4")
"""Methods that are run with the first seed only: they draw little."""
LEFT_OUT = ("parallel", "hoist", "next", "dot", "parallelarith", "outerproduct")
"""Kinds of actions that are not taken: one thread is compared, and the rest seldom helps."""
LENGTH = 5
"""The most actions of an episode."""
SLOWEST = 4.0
"""Seconds that an action may take, and that a schedule may take to be compiled, checked and timed;
else it has failed."""


def option(default: Any, help: str) -> Any:
    """Return a field with its help."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of."""

    seeds: int = option(3, "agents that are learnt, each from its own draws")
    rounds: int = option(4, "times that episodes are drawn and the network is learnt anew")
    episodes: int = option(6, "episodes of each program in a round")
    elite: int = option(4, "schedules of each program that the network is moved towards")
    hidden: int = option(64, "units of the network's layer")
    epochs: int = option(60, "passes over the elite after each round")
    rate: float = option(3e-3, "learning rate")
    explore: float = option(0.15, "the share of actions in training that are drawn evenly")
    evaluations: int = option(20, "schedules that each method may run on a program")
    file: str = option("schedule_policy.jsonl", "where what was measured is kept")
    seconds: float = option(math.inf, "stop after so long; the same command goes on")


@dataclass(frozen=True, slots=True)
class Played:
    """An episode: what was seen, what could be done, what was done, and how fast it became."""

    states: list[list[float]]
    masks: list[list[int]]
    actions: list[int]
    microseconds: float
    """The time of one run; 0 where the schedule failed."""


Choose = Callable[[np.ndarray, np.ndarray, int], int]


class TimeIsUpError(Exception):
    """What may be measured in one go is over."""


class Runner:
    """Plays schedules in the environment, and counts what it runs."""

    def __init__(self, env: Any, seconds: float = math.inf) -> None:
        self.env = env
        names: tuple[str, ...] = tuple(env.action_space.names)
        kinds = [name.partition("-")[0] for name in names]
        self.names = names
        self.stop = names.index("stop")
        self.usable = np.array([kind not in LEFT_OUT for kind in kinds])
        self.groups = np.unique(kinds, return_inverse=True)[1]
        self.end = time.monotonic() + seconds

    def play(self, program: str, choose: Choose, length: int = LENGTH) -> Played:
        """Draw the actions of an episode by `choose`, then time what they made."""
        if time.monotonic() > self.end:
            raise TimeIsUpError
        states: list[list[float]] = []
        masks: list[list[int]] = []
        actions: list[int] = []
        self.env.reset(benchmark=program)
        state, mask = self._look()
        last = 0
        for _ in range(length):
            action = choose(state_of(state, last), mask, len(actions))
            states.append(state_of(state, last).tolist())
            masks.append(np.flatnonzero(mask).tolist())
            actions.append(int(action))
            last = int(self.groups[action]) + 1
            if action == self.stop:
                break
            (state, mask), _, _, cut, _ = self.env.step(
                int(action), ["OperationFeatures", "ScheduleMask"], timeout=SLOWEST
            )
            if cut:
                return Played(states, masks, actions, 0.0)
            mask = self._legal(mask)
        return Played(states, masks, actions, self._microseconds())

    def time(self, program: str, actions: Sequence[int]) -> float:
        """Return the microseconds of one run after `actions`; 0 where they failed."""
        if time.monotonic() > self.end:
            raise TimeIsUpError
        self.env.reset(benchmark=program)
        taken = [at for at in actions if at != self.stop]
        if taken and self.env.multistep(taken, [], timeout=SLOWEST)[3]:
            return 0.0
        return self._microseconds()

    def legal(self, program: str, actions: Sequence[int]) -> list[int]:
        """Return what may be done after `actions`, without `stop`."""
        self.env.reset(benchmark=program)
        result = self.env.multistep(list(actions), ["ScheduleMask"], timeout=SLOWEST)
        if result[3]:
            return []
        return [int(at) for at in np.flatnonzero(self._legal(result[0][0])) if at != self.stop]

    def evenly(self, draw: np.random.Generator) -> Choose:
        """Return a choice that draws a kind of transformation, and then one of it."""

        def choose(_: np.ndarray, mask: np.ndarray, step: int) -> int:
            legal = np.flatnonzero(mask)
            if not step:
                legal = legal[legal != self.stop]
            group = draw.choice(np.unique(self.groups[legal]))
            return int(draw.choice(legal[self.groups[legal] == group]))

        return choose

    def _look(self) -> tuple[np.ndarray, np.ndarray]:
        state, mask = self.env.multistep([], ["OperationFeatures", "ScheduleMask"])[0]
        return state, self._legal(mask)

    def _legal(self, mask: np.ndarray) -> np.ndarray:
        return mask.astype(bool) & self.usable

    def _microseconds(self) -> float:
        try:
            found, _, _, cut, _ = self.env.multistep([], ["RuntimeMedian"], timeout=SLOWEST)
        except CompilerGymError:
            return 0.0
        return 0.0 if cut else float(found[0])


_KINDS = 32
_BLOCKS = (4, 6, 8, 12, 16, 32, 64)
_LOG_BOUNDS, _SHAPE = slice(1, 8), slice(8, 162)


def state_of(table: np.ndarray, last: int) -> np.ndarray:
    """Return what the network reads: the row at the cursor, which blocks divide its loops, how many
    operations there are, and the kind of the last action."""
    current = np.flatnonzero(table[:, 0] > 0)
    row = table[current[0]] if len(current) else np.zeros(table.shape[1])
    bounds = row[_LOG_BOUNDS]
    lengths = np.round(2.0**bounds - 1)
    whole = np.concatenate([(lengths > 0) & (lengths % block == 0) for block in _BLOCKS])
    kinds = np.zeros(_KINDS)
    kinds[last] = 1
    rows = float((table[:, -1] > 0).sum())
    return np.concatenate([np.clip(row, -8, 32) / 8, whole, [rows / 8], kinds]).astype(np.float32)


class Policy:
    """A network of one layer that says how likely each action is, learnt by Adam."""

    def __init__(self, inputs: int, actions: int, options: Options, seed: int) -> None:
        self.options = options
        draw = np.random.default_rng(seed)
        scale = 1 / math.sqrt(inputs)
        self.weights = [
            draw.normal(0, scale, (inputs, options.hidden)),
            np.zeros(options.hidden),
            draw.normal(0, 0.05, (options.hidden, actions)),
            np.zeros(actions),
        ]
        self.moments = [(np.zeros_like(one), np.zeros_like(one)) for one in self.weights]
        self.updates = 0

    def shares(self, states: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how likely each action is in each state, and the units that said so."""
        first, shift, second, bias = self.weights
        units = np.maximum(states @ first + shift, 0)
        logits = np.where(masks, units @ second + bias, -np.inf)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True), units

    def drawing(self, draw: np.random.Generator) -> Choose:
        """Return a choice that draws actions as likely as the network says."""

        def choose(state: np.ndarray, mask: np.ndarray, step: int) -> int:
            shares = self.shares(state[None], mask[None])[0][0]
            return int(draw.choice(len(shares), p=shares))

        return choose

    def likeliest(self, state: np.ndarray, mask: np.ndarray, step: int) -> int:
        """Return the likeliest action."""
        return int(self.shares(state[None], mask[None])[0][0].argmax())

    def learn(self, episodes: Sequence[Played], draw: np.random.Generator) -> None:
        """Make the actions of `episodes` likelier."""
        states = np.array([state for one in episodes for state in one.states], np.float32)
        masks = np.zeros((len(states), len(self.weights[3])), bool)
        for row, legal in enumerate(mask for one in episodes for mask in one.masks):
            masks[row, legal] = True
        actions = np.array([action for one in episodes for action in one.actions])
        for _ in range(self.options.epochs):
            for rows in np.array_split(draw.permutation(len(states)), -(-len(states) // 64)):
                self._update(states[rows], masks[rows], actions[rows])

    def _update(self, states: np.ndarray, masks: np.ndarray, actions: np.ndarray) -> None:
        shares, units = self.shares(states, masks)
        error = shares
        error[np.arange(len(actions)), actions] -= 1
        error /= len(actions)
        inner = (error @ self.weights[2].T) * (units > 0)
        slopes = [states.T @ inner, inner.sum(0), units.T @ error, error.sum(0)]
        self.updates += 1
        for at, slope in enumerate(slopes):
            first, second = self.moments[at]
            first += 0.1 * (slope - first)
            second += 0.001 * (slope**2 - second)
            step = first / (1 - 0.9**self.updates)
            size = np.sqrt(second / (1 - 0.999**self.updates)) + 1e-8
            self.weights[at] -= self.options.rate * step / size


class Kept:
    """What was measured, a line of JSON each, by what it was measured for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self._known: dict[str, Any] = {}
        for line in lines:
            key, value = json.loads(line)
            self._known[json.dumps(key)] = value

    def get(self, key: Sequence[Any], measure: Callable[[], Any]) -> Any:
        """Return what is known under `key`, or measure it and keep it."""
        name = json.dumps(list(key))
        if name not in self._known:
            value = self._known[name] = measure()
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([list(key), value]) + "\n")
        return self._known[name]


class Memory:
    """The fastest schedules of the training programs, by what their operations look like."""

    def __init__(self, known: Sequence[Sequence[Played]], elite: int) -> None:
        self._best = [best_of(found, elite) for found in known if best_of(found, elite)]
        self._states = np.array([found[0].states[0] for found in self._best])

    def recalled(self, state: np.ndarray) -> list[list[int]]:
        """Return schedules to try on an operation: the best of those most like it first."""
        weights = np.ones(len(state))
        weights[_SHAPE] = 8.0  # another kind of operation is farther than another size
        distances = (np.abs(self._states - state) * weights).sum(axis=1)
        ranked = [
            (place + 2 * rank, place, one.actions)
            for place, at in enumerate(np.argsort(distances, kind="stable"))
            for rank, one in enumerate(self._best[int(at)])
        ]
        return [list(actions) for actions in dict.fromkeys(tuple(a) for *_, a in sorted(ranked))]


def train(runner: Runner, kept: Kept, options: Options, seed: int) -> tuple[Policy, Memory]:
    """Return the policy and the memory that were learnt from the training programs."""
    runner.env.reset(benchmark=TRAIN[0])
    inputs = len(state_of(runner.env.observation["OperationFeatures"], 0))
    policy = Policy(inputs, len(runner.names), options, seed)
    known: dict[str, list[Played]] = {program: [] for program in TRAIN}
    for turn in range(options.rounds):
        share = options.explore if turn else 1.0
        for place, program in enumerate(TRAIN):
            for number in range(options.episodes):
                draw = np.random.default_rng([seed, turn, place, number])
                choose = exploring(runner, policy, draw, share)
                found = kept.get(
                    ["train", seed, turn, program, number],
                    lambda p=program, c=choose: dataclasses.asdict(runner.play(p, c)),
                )
                known[program].append(Played(**found))
        elite = [one for found in known.values() for one in best_of(found, options.elite)]
        policy.learn(elite, np.random.default_rng([seed, turn]))
    return policy, Memory(list(known.values()), options.elite)


def exploring(runner: Runner, policy: Policy, draw: np.random.Generator, share: float) -> Choose:
    """Return a choice that draws from the policy, and a `share` of the actions evenly."""
    evenly, likely = runner.evenly(draw), policy.drawing(draw)

    def choose(state: np.ndarray, mask: np.ndarray, step: int) -> int:
        return (evenly if draw.random() < share else likely)(state, mask, step)

    return choose


def best_of(episodes: Sequence[Played], count: int) -> list[Played]:
    """Return the fastest of `episodes`, each sequence of actions once."""
    different = {tuple(one.actions): one for one in episodes if one.microseconds > 0}
    ranked = sorted(different.values(), key=lambda one: one.microseconds)
    return [one for one in ranked[:count] if one.microseconds < 2 * ranked[0].microseconds]


def learnt(
    runner: Runner, policy: Policy, memory: Memory, program: str, seed: int
) -> Iterator[Played]:
    """Yield what was fastest on programs like this one, then what is drawn from the policy."""
    runner.env.reset(benchmark=program)
    state = state_of(runner.env.observation["OperationFeatures"], 0)
    for actions in memory.recalled(state):
        yield Played([], [], actions, runner.time(program, actions))
    drawing = policy.drawing(np.random.default_rng([seed, 17]))
    while True:
        yield runner.play(program, drawing)


def random_actions(runner: Runner, program: str, seed: int) -> Iterator[Played]:
    """Yield random schedules: a kind of transformation is drawn, then one of that kind."""
    evenly = runner.evenly(np.random.default_rng([seed, 18]))
    while True:
        yield runner.play(program, evenly)


def beam(
    runner: Runner, program: str, seed: int, width: int, evaluations: int
) -> tuple[float, list[int]]:
    """Return the best time of a beam search and its actions; of width 1 it is greedy.

    A level tries as many legal actions, drawn kind by kind, as leave each level as many.
    """
    evenly = runner.evenly(np.random.default_rng([seed, 19]))
    level: list[tuple[float, list[int]]] = [(runner.time(program, []), [])]
    best = level[0]
    for _ in range(LENGTH):
        found: list[tuple[float, list[int]]] = []
        tries = max(1, evaluations // LENGTH // len(level))
        for _, before in level:
            legal = runner.legal(program, before)
            mask = np.zeros(len(runner.names), bool)
            mask[legal] = True
            for _ in range(min(tries, len(legal))):
                action = evenly(mask, mask, 0)
                mask[action] = False
                actions = [*before, action]
                found.append((runner.time(program, actions) or math.inf, actions))
        level = sorted(found)[:width]
        if not level or level[0][0] == math.inf:
            break
        best = min(best, level[0])
    return best


def search(tries: Iterator[Played], evaluations: int) -> tuple[float, list[int]]:
    """Return the best time of the first `evaluations` tries and its actions."""
    played = [next(tries) for _ in range(evaluations)]
    found = [(one.microseconds, one.actions) for one in played if one.microseconds > 0]
    return min(found, default=(math.inf, list[int]()))


def methods(
    runner: Runner, policy: Policy, memory: Memory, seed: int, evaluations: int
) -> dict[str, Callable[[str], tuple[float, list[int]]]]:
    """Return every method by its name: what it finds on a program."""
    return {
        "learnt": lambda p: search(learnt(runner, policy, memory, p, seed), evaluations),
        "random": lambda p: search(random_actions(runner, p, seed), evaluations),
        "greedy": lambda p: beam(runner, p, seed, 1, evaluations),
        "beam of 4": lambda p: beam(runner, p, seed, 4, evaluations),
    }


def compare(runner: Runner, kept: Kept, options: Options) -> dict[str, list[float]]:
    """Return for each method and seed how many times as fast as the naive code it makes programs:
    the geometric mean over `TEST`."""
    means: dict[str, list[float]] = {}
    for seed in range(options.seeds):
        for name, values in tried(runner, kept, options, seed).items():
            means.setdefault(name, []).append(geometric_mean(values))
    return means


def tried(runner: Runner, kept: Kept, options: Options, seed: int) -> dict[str, list[float]]:
    """Return for each method how many times as fast it makes each program of `TEST`."""
    policy, memory = train(runner, kept, options, seed)
    speedups: dict[str, list[float]] = {}
    for program in TEST.values():
        naive = kept.get(["naive", program], lambda p=program: runner.time(p, []))
        for name, method in methods(runner, policy, memory, seed, options.evaluations).items():
            if seed and name in ONCE:
                continue
            key = ["test", options.rounds, options.evaluations, name, seed, program]
            found = kept.get(key, lambda m=method, p=program: m(p))[0]
            speedups.setdefault(name, []).append(max(1.0, naive / found))
    return speedups


_STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}


def interval(values: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of the mean of `values`; 0 for a single one.

    >>> round(interval([9.0, 10.0, 11.0]), 2)
    2.48
    """
    if len(values) < 2:
        return 0.0
    return _STUDENT.get(len(values), 2.0) * stdev(values) / math.sqrt(len(values))


def main(words: Sequence[str] | None = None) -> dict[str, list[float]]:
    """Learn, compare and print the table."""
    options = parse(words)
    kept = Kept(Path(options.file))
    with compiler_gym.make("mlir-v0", action_space="Schedule") as env:
        try:
            means = compare(Runner(env, options.seconds), kept, options)
        except TimeIsUpError:
            print(f"time is up: the same command goes on from {options.file}")
            return {}
    print(f"times as fast as naive code, {options.evaluations} schedules a program:")
    for name, found in means.items():
        print(f"{name:10} {mean(found):6.2f} ± {interval(found):.2f}  {len(found)} seeds")
    return means


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
