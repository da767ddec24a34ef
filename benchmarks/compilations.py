# SPDX-License-Identifier: MIT
"""Compare searches by the number of compilations, on packages that nothing was chosen on.

    python -m benchmarks.compilations choose RUN DATASET       modules of the three splits
    python -m benchmarks.compilations search RUN SPLIT         the present search on each module
    python -m benchmarks.compilations mine RUN                 candidates on train modules
    python -m benchmarks.compilations cover RUN COUNT          few sequences that cover train
    python -m benchmarks.compilations rows RUN SPLIT           those few on each module
    python -m benchmarks.compilations continue RUN COUNT       what to add to the best so far
    python -m benchmarks.compilations compare RUN SPLIT        with the former search (--starts)

Every step continues where it ended; ``--seconds`` limits a call, ``--part 0/2`` its share.
"""

import argparse
import json
import os
import random
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import erf, sqrt
from pathlib import Path
from typing import Any

import numpy as np

import compiler_gym
from benchmarks.agents import sum_processor_time
from compiler_gym.core import KeptForks
from compiler_gym.envs.llvm.toolchain import tool_name
from compiler_gym.options import SearchOptions
from compiler_gym.search import (
    default_starts,
    find_known_sequences,
    level_sequences,
    starting_sequences,
)
from compiler_gym.search.local_search import PortfolioSearch
from compiler_gym.search.moves import Moves
from compiler_gym.search.strategy import CONTINUE, Moveset
from compiler_gym.search.tree import State
from compiler_gym.search.walker import SearchedProgram, Walker

COMPILATIONS = 100
SIZES = (150, 3000)
"""The smallest and the largest module, in instructions before any pass."""
PER_PACKAGE = {"train": 3, "validation": 5, "test": 6}
_REQUIRED = ("-Oz", "-mllvm", "-opt-bisect-limit=0", "-mllvm", "-opt-bisect-verbose=0")
"""Flags that inline always_inline functions, in modules that were built before this was done."""


def make_env() -> Any:
    """Return an environment whose rewards count instructions."""
    return compiler_gym.make(
        "llvm-v0", action_space="PassesAndPipelines", reward_space="IrInstructionCount"
    )


def choose(run: Path, dataset: str) -> None:
    """Write modules of every package of every split, and describe them in a file."""
    lines = list[str]()
    (run / "modules").mkdir(parents=True, exist_ok=True)
    with make_env() as env:
        corpus: Any = env.datasets[f"benchmark://{dataset}"]
        for split, most in PER_PACKAGE.items():
            packages: dict[str, dict[str, str]] = defaultdict(dict)
            for uri in corpus.split(split, "module").benchmark_uris():
                facts = corpus.facts(str(uri))
                if SIZES[0] <= facts.instructions <= SIZES[1]:
                    packages[facts.places[0].package][corpus.program(uri).sha256] = str(uri)
            for package, found in sorted(packages.items()):
                drawn = random.Random(package).sample(sorted(found), min(most, len(found)))
                for uri in map(found.get, drawn):
                    made = run / "modules" / f"{corpus.program(uri).sha256[:16]}.bc"
                    subprocess.run(
                        [tool_name("clang"), "-x", "ir", "-", "-c", "-emit-llvm", "-w", *_REQUIRED,
                         "-o", str(made)],
                        input=corpus.program(uri).contents, check=True,
                    )  # fmt: skip
                    one = {"module": made.name, "package": package, "split": split}
                    lines.append(json.dumps(one))
    random.Random(0).shuffle(lines)
    (run / "modules.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


class Searched:
    """One module under search, whose compilations are counted."""

    def __init__(self, run: Path, module: str, env: Any) -> None:
        self.env = env
        env.reset(benchmark=f"file://{(run / 'modules' / module).absolute()}")
        self.before = int(env.observation["IrInstructionCount"])
        self.oz = int(env.observation["IrInstructionCountOz"])
        self.features = [int(x) for x in env.observation["Autophase"]]
        state = env.state_observation
        env.observation_space = state
        self.moves = Moves(env.action_space, seed=0)
        options = SearchOptions()
        kept = KeptForks[State](options.kept_processes, options.kept_bytes)
        self._walker = Walker(env, self.moves, kept, options)
        self._program = SearchedProgram(env.benchmark)
        self._started = sum_processor_time(os.getpid())

    def walk(self, sequence: Sequence[int]) -> Any:
        """Return the walk along `sequence`: one compilation."""
        return self._walker.walk(self._program, sequence)

    def count(self, walk: Any) -> int:
        """Return the fewest instructions along `walk`."""
        return self.before - round(walk.best.reward)

    @property
    def seconds(self) -> float:
        """Processor time since the start, of all processes."""
        return round(sum_processor_time(os.getpid()) - self._started, 3)

    def names(self, moves: Sequence[int]) -> list[str]:
        """Return the names of `moves`."""
        return [self.moves.name(move) for move in moves]


def search_one(searched: Searched, starts: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the best count after each compilation of the default search, and what it found."""
    opening = tuple(tuple(start) for start in starts)
    plain = tuple(start for start in opening if start[:1] != (CONTINUE,))
    moveset = Moveset(len(searched.moves), plain, opening if plain != opening else ())
    strategy = PortfolioSearch(moveset, random.Random(0))
    counts: list[int] = []
    seconds: list[float] = []
    found: dict[tuple[int, ...], int] = {}
    while len(counts) < COMPILATIONS:
        walks: list[Any] = []
        for sequence in strategy.ask():
            walks.append(searched.walk(sequence))
            if not sequence:  # no compilation
                continue
            counts.append(searched.count(walks[-1]))
            seconds.append(searched.seconds)
            found[walks[-1].best.actions()] = counts[-1]
        strategy.tell(walks)
    best = sorted(found.items(), key=lambda pair: (pair[1], len(pair[0])))[:5]
    return {
        "counts": counts[:COMPILATIONS],
        "seconds": seconds[:COMPILATIONS],
        "found": [[searched.names(moves), count] for moves, count in best],
    }


def former_starts(file: Path, space: Any) -> list[list[int]]:
    """Return the sequences in a file of starts, with the levels in turns, as searches once did."""
    number = {name: move for move, name in enumerate(space.names)}
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    known = [[number[n] for n in line] for line in lines if line and set(line) <= number.keys()]
    turns = zip_longest(level_sequences(space.names)[::-1], known)
    return [start for turn in turns for start in turn if start is not None]


def modules(run: Path, split: str, part: str) -> list[dict[str, str]]:
    """Return the described modules of a split, or a part of them such as 0/2."""
    index, _, parts = part.partition("/")
    found = [one for one in read_lines(run / "modules.jsonl") if one["split"] == split]
    return found[int(index) :: int(parts)]


def read_lines(*files: Path) -> list[dict[str, Any]]:
    """Return the objects in `files`, one on each line."""
    return [
        json.loads(line)
        for file in files
        if file.exists()
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def each(run: Path, step: str, given: argparse.Namespace, most: int = 0) -> Iterator[Any]:
    """Yield each module that `step` has not finished, to be answered with its row."""
    end = time.monotonic() + given.seconds
    file = run / f"{step}-{given.part.replace('/', '-of-')}.jsonl"
    known = {row["module"] for row in read_lines(*run.glob(f"{step}-*-of-*.jsonl"))}
    chosen = modules(run, given.split, given.part)
    for one in chosen[: most or None]:
        if one["module"] in known or time.monotonic() > end:
            continue
        with make_env() as env:
            row: dict[str, Any] = {}
            yield Searched(run, one["module"], env), row
        with file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({**one, **row}) + "\n")


def describe(searched: Searched) -> dict[str, Any]:
    """Return what is known of a module before any compilation."""
    return {"before": searched.before, "oz": searched.oz, "features": searched.features}


def run_rows(searched: Searched, sequences: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the fewest instructions along each of `sequences`."""
    counts: list[int] = []
    seconds: list[float] = []
    number = {searched.moves.name(move): move for move in range(len(searched.moves))}
    for names in sequences:
        counts.append(searched.count(searched.walk([number[name] for name in names])))
        seconds.append(searched.seconds)
    return {"counts": counts, "seconds": seconds}


def candidates(run: Path, most: int) -> list[list[str]]:
    """Return the present starts, and the sequences that searches found on train modules.

    Those of a package take turns, those that saved most over every start first.
    """
    with make_env() as env:
        names = env.action_space.names
        starts = starting_sequences(None, env.action_space)
    levels = {names[level] for (level,) in level_sequences(names)}
    known = [[names[move] for move in start] for start in starts]
    by_package: dict[str, list[tuple[float, list[str]]]] = defaultdict(list)
    for row in read_lines(*run.glob("search-train-*.jsonl")):
        best, count = row["found"][0]
        gain = np.log(min(row["oz"], *row["counts"][: len(known) + 1]) / count)
        if len(best) > 1 or best[:1] not in [[level] for level in levels]:
            by_package[row["package"]].append((float(gain), best))
    turns = [sorted(found, reverse=True) for found in by_package.values()]
    ordered = sorted(
        ((turn, -gain, best) for found in turns for turn, (gain, best) in enumerate(found))
    )
    result = [list(names) for names in dict.fromkeys(map(tuple, known))]
    for _, gain, best in ordered:
        if best not in result and gain < 0:
            result.append(best)
    return result[:most]


def cover(run: Path, count: int) -> list[list[str]]:
    """Return `count` candidates that together save most on train modules, greedily.

    Every package has the same weight, and ``clang -Oz`` is the floor.
    """
    rows = read_lines(*run.glob("mine-*.jsonl"))
    sequences = json.loads((run / "candidates.json").read_text(encoding="utf-8"))
    gains = np.array([np.log(row["oz"] / np.array(row["counts"])) for row in rows])
    weights = package_weights([row["package"] for row in rows])
    best = np.zeros(len(rows))
    chosen: list[int] = []
    while len(chosen) < count:
        sums = weights @ np.maximum(gains, best[:, None])
        sums[chosen] = -np.inf
        chosen.append(int(sums.argmax()))
        best = np.maximum(best, gains[:, chosen[-1]])
        print(len(chosen), f"{np.exp(weights @ best):.4f}", *sequences[chosen[-1]])
    return [sequences[n] for n in chosen]


class Gaussian:
    """The joint distribution of the gains of sequences on an unseen module.

    The mean is a ridge regression on shares of instructions, if `with_features`, and the
    covariance is that of the residuals, shrunk towards its diagonal.
    """

    def __init__(self, rows: Sequence[dict[str, Any]], *, with_features: bool) -> None:
        gains = np.array([log_gains(row) for row in rows])
        weights = package_weights([row["package"] for row in rows])
        self._mean = weights @ gains
        self._coefficients = np.zeros((len(features_of(rows[0])), gains.shape[1]))
        if with_features:
            given = np.array([features_of(row) for row in rows])
            self._center, self._spread = weights @ given, given.std(0) + 1e-6
            x = (given - self._center) / self._spread
            weighted = x * weights[:, None]
            penalty = np.eye(x.shape[1]) * RIDGE
            left = x.T @ weighted + penalty
            self._coefficients = np.linalg.solve(left, weighted.T @ (gains - self._mean))
        means = np.array([self.mean(row) for row in rows])
        residuals = (gains - means) * np.sqrt(weights)[:, None]
        covariance = residuals.T @ residuals
        diagonal = np.diag(np.diag(covariance))
        self._covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * diagonal

    def mean(self, row: dict[str, Any]) -> Any:
        """Return the expected gains of every sequence on a module, before any compilation."""
        if not self._coefficients.any():
            return self._mean
        x = (features_of(row) - self._center) / self._spread
        return self._mean + x @ self._coefficients

    def order(self, row: dict[str, Any], count: int) -> list[int]:
        """Return the sequences in the order of largest expected improvement on a module."""
        gains, mean, done = log_gains(row), self.mean(row), list[int]()
        while len(done) < count:
            expected, covariance = mean, self._covariance
            if done:
                known = np.linalg.solve(
                    covariance[np.ix_(done, done)] + 1e-8 * np.eye(len(done)), covariance[done]
                )
                expected = mean + (gains[done] - mean[done]) @ known
                covariance = covariance - covariance[:, done] @ known
            best = max(0.0, *gains[done]) if done else 0.0
            deviation = np.sqrt(np.maximum(np.diag(covariance), 1e-10))
            z = (expected - best) / deviation
            density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
            improvement = deviation * (z * normal_below(z) + density)
            improvement[done] = -np.inf
            done.append(int(improvement.argmax()))
        return done


RIDGE, SHRINKAGE = 3.0, 0.1


def normal_below(z: Any) -> Any:
    """Return the probability that a standard normal variable is below each of `z`."""
    return np.array([0.5 * (1 + erf(value / sqrt(2))) for value in z])


def features_of(row: dict[str, Any]) -> Any:
    """Return the shares of a module's instructions by kind, and its logarithmic size."""
    counts = np.array(row["features"], dtype=float)
    return np.append(np.log1p(100 * counts / row["before"]), np.log(row["before"]))


def log_gains(row: dict[str, Any]) -> Any:
    """Return by how much each compilation is below ``clang -Oz``, as logarithms."""
    return np.log(row["oz"] / np.array(row["counts"]))


def best_so_far(row: dict[str, Any], order: Sequence[int] | None = None) -> Any:
    """Return the best gain after each compilation, at least 0, of 100."""
    gains = log_gains(row) if order is None else log_gains(row)[list(order)]
    best = np.maximum(np.maximum.accumulate(gains), 0)
    return np.append(best, np.full(max(COMPILATIONS - len(best), 0), best[-1]))[:COMPILATIONS]


def compare(run: Path, split: str, former: str) -> None:
    """Print each method's share of the gain of 100 compilations of a `former` search.

    The models and orders of single sequences are compared if their rows exist.
    """
    train = read_lines(*run.glob("rows-train-*.jsonl"))
    rows = {row["module"]: row for row in read_lines(*run.glob(f"rows-{split}-*.jsonl"))}
    every = {
        title: {
            row["module"]: row for row in read_lines(*run.glob(f"search{name}-{split}-*.jsonl"))
        }
        for title, name in (("former search", former), ("present search", ""))
    }
    reference = every["former search"]
    modules = [name for name in reference if name in every["present search"]]
    modules = [name for name in modules if not rows or name in rows]
    curves = {
        name: np.array([best_so_far(found[module]) for module in modules])
        for name, found in every.items()
    }
    packages = [reference[module]["package"] for module in modules]
    print(f"{len(modules)} modules of {len(set(packages))} packages of {split}")
    full = curves["former search"][:, -1]
    sizes = np.array([reference[module]["oz"] for module in modules])
    print(f"gain of 100: files {np.expm1(full.mean()):.2%}, median {np.expm1(np.median(full)):.2%}")
    print(f"packages {np.expm1(package_weights(packages) @ full):.2%}, pooled saving "
          f"{1 - sizes @ np.exp(-full) / sizes.sum():.2%}")  # fmt: skip
    if rows:
        curves |= order_curves([rows[module] for module in modules], train)
    for name, curve in curves.items():
        cells = [share_cell(curve[:, k - 1], full, packages) for k in (1, 3, 10, 30, 100)]
        print(f"| {name} | {' | '.join(cells)} |")
    for count in (10, 100):
        more = curves["present search"][:, count - 1] - full
        print(f"{count} compilations are ahead of 100 on {(more > 1e-9).sum()}, level on "
              f"{(abs(more) <= 1e-9).sum()} and behind on {(more < -1e-9).sum()}")  # fmt: skip
    print("after the processor time of 10, 30 and 100 compilations of the former search:")
    for name, found in every.items():
        cells = [
            share_cell(
                np.array([gain_after(found[m], reference[m]["seconds"][k - 1]) for m in modules]),
                full,
                packages,
            )
            for k in (10, 30, 100)
        ]
        print(f"| {name} | {' | '.join(cells)} |")


def order_curves(rows: Sequence[dict[str, Any]], train: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the best gains after each compilation, by the order of single sequences."""
    count = len(rows[0]["counts"])
    generator = np.random.default_rng(0)
    curves = {
        "static order": np.array([best_so_far(row) for row in rows]),
        "random order": np.array(
            [
                np.mean(
                    [best_so_far(row, generator.permutation(count).tolist()) for _ in range(50)], 0
                )
                for row in rows
            ]
        ),
    }
    for name, with_features in (("outcomes", False), ("features and outcomes", True)):
        model = Gaussian(train, with_features=with_features)
        curves[name] = np.array([best_so_far(row, model.order(row, count)) for row in rows])
    return curves


def choose_continuations(run: Path, count: int) -> None:
    """Print `count` known sequences that, after the best so far, add most on train modules.

    They follow the first eight starts; each package has one module of at most 2,500 instructions.
    """
    packages = {one["package"]: one["module"] for one in modules(run, "train", "0/1")}
    searched = [Searched(run, module, make_env()) for module in packages.values()]
    searched = [one for one in searched if one.before <= 2500]
    space = searched[0].env.action_space
    tails = find_known_sequences(space.names)
    best = [
        max((one.walk(start).best for start in default_starts(space)[:8]), key=lambda n: n.reward)
        for one in searched
    ]
    for _ in range(count):
        walks = [
            [one.walk((*node.actions(), *tail)) for tail in tails]
            for one, node in zip(searched, best, strict=True)
        ]
        gains = np.array(
            [
                [max(np.log(one.oz / one.count(walk)), 0) for walk in own]
                for one, own in zip(searched, walks, strict=True)
            ]
        )
        chosen = int(gains.mean(0).argmax())
        best = [
            max(node, own[chosen].best, key=lambda n: n.reward)
            for node, own in zip(best, walks, strict=True)
        ]
        print(
            f"{np.expm1(gains.mean(0)[chosen]):.2%} ...", *(space.names[n] for n in tails[chosen])
        )


def gain_after(row: dict[str, Any], seconds: float) -> float:
    """Return the best gain of the compilations that ended after at most `seconds`."""
    done = int(np.searchsorted(row["seconds"], seconds, "right"))
    return float(best_so_far(row)[done - 1]) if done else 0.0


def share_cell(gains: Any, full: Any, packages: Sequence[str]) -> str:
    """Return the share of `full` that `gains` reach, packages weighted equally, with a 95 %
    interval by a bootstrap over packages."""
    names = sorted(set(packages))
    chosen = [[n for n, package in enumerate(packages) if package == name] for name in names]
    means = np.array([[gains[own].mean(), full[own].mean()] for own in chosen])
    generator = np.random.default_rng(0)
    drawn = means[generator.integers(0, len(names), (10_000, len(names)))].sum(1)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], (2.5, 97.5))
    share = means[:, 0].sum() / means[:, 1].sum()
    return f"{share:.0%} [{low:.0%}, {high:.0%}]"


def write_chosen(run: Path, chosen: list[list[str]]) -> None:
    """Write the chosen candidates, followed by the levels, and their rows on train modules."""
    known = json.loads((run / "candidates.json").read_text(encoding="utf-8"))
    levels = [sequence for sequence in known if len(sequence) == 1]
    columns = [sequence for sequence in chosen if sequence not in levels] + levels
    (run / "chosen.json").write_text(json.dumps(columns, indent=0), encoding="utf-8")
    numbers = [known.index(sequence) for sequence in columns]
    rows = read_lines(*run.glob("mine-*.jsonl"))
    lines = [
        json.dumps({**row, "counts": [row["counts"][n] for n in numbers], "seconds": []})
        for row in rows
    ]
    (run / "rows-train-0-of-1.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def package_weights(packages: Sequence[str]) -> Any:
    """Return a weight for each module, the same in all for every package."""
    sizes = {package: packages.count(package) for package in packages}
    return np.array([1 / sizes[package] for package in packages]) / len(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step")
    parser.add_argument("run", type=Path)
    parser.add_argument("split", nargs="?", default="train")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--starts", type=Path, help="the starts of a former search, a file")
    given = parser.parse_args()
    run = given.run
    if given.step == "choose":
        choose(run, given.split)
    elif given.step == "search":
        name = f"search{given.starts.stem if given.starts else ''}-{given.split}"
        for searched, row in each(run, name, given, given.most):
            space = searched.env.action_space
            starts = former_starts(given.starts, space) if given.starts else default_starts(space)
            row |= {**describe(searched), **search_one(searched, starts)}
    elif given.step == "mine":
        file = run / "candidates.json"
        if not file.exists():
            file.write_text(json.dumps(candidates(run, int(given.split))), encoding="utf-8")
        sequences = json.loads(file.read_text(encoding="utf-8"))
        given.split = "train"
        for searched, row in each(run, "mine", given, given.most):
            row |= {**describe(searched), **run_rows(searched, sequences)}
    elif given.step == "cover":
        write_chosen(run, cover(run, int(given.split)))
    elif given.step == "rows":
        sequences = json.loads((run / "chosen.json").read_text(encoding="utf-8"))
        for searched, row in each(run, f"rows-{given.split}", given):
            row |= {**describe(searched), **run_rows(searched, sequences)}
    elif given.step == "continue":
        choose_continuations(run, int(given.split))
    else:
        compare(run, given.split, given.starts.stem if given.starts else "")


if __name__ == "__main__":
    main()
