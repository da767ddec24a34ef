# SPDX-License-Identifier: MIT
# Matplotlib types its arguments partially:
# pyright: reportUnknownMemberType=false
"""Measure what the programs of a dataset are like, and draw it.

``python -m docs.characterise`` measures every dataset that needs no network and
writes, beside its page, a table (.tsv) of one line per program and a plot (.svg).
``python -m docs.characterise NAME`` does so for one that has been installed or imported.
The pages read the tables; a test measures some programs again.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from itertools import islice
from pathlib import Path
from statistics import median

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Dataset, Datasets

FOLDER = Path(__file__).parent / "reference" / "datasets"
MOST_PROGRAMS = 60
"""How many programs stand for a dataset that has more of them, or no end."""

BRANCHES = ("Br", "Switch", "IndirectBr", "Invoke", "CallBr")
MEMORY = ("Alloca", "Load", "Store", "GetElementPtr", "Fence", "AtomicCmpXchg", "AtomicRMW")
ARITHMETIC = (
    *("FNeg", "Add", "FAdd", "Sub", "FSub", "Mul", "FMul", "UDiv", "SDiv", "FDiv", "URem", "SRem"),
    *("FRem", "Shl", "LShr", "AShr", "And", "Or", "Xor"),
)

CLASHING = {"generator://linalg-v0": "linalg-v0-random"}
"""Datasets whose pages would have the name of another's, and the names they have instead."""


@dataclass(frozen=True, slots=True)
class Character:
    """One program as it is read: its size, and the shares of three kinds of instructions."""

    program: str
    instructions: int
    branches: float
    memory: float
    arithmetic: float


def slug(name: str) -> str:
    """Return the file name of a dataset's page, less its suffix."""
    if name in CLASHING:
        return CLASHING[name]
    scheme, _, rest = name.partition("://")
    return rest if scheme == "benchmark" else (rest or scheme)


def characters(env: CompilerEnv, dataset: Dataset, most: int) -> Iterator[Character]:
    """Yield the character of at most `most` programs that can be built.

    They are the first of a dataset without end, and spread evenly over one with an end.
    """
    found = 0
    step = max(1, -(-dataset.size // most))
    for uri in islice(dataset.benchmark_uris(), 0, None, step):
        try:
            env.reset(benchmark=uri)
        except compiler_gym.errors.BenchmarkInitError:
            continue  # a seed of which nothing can be built
        yield character(env, uri)
        found += 1
        if found == most:
            return


def character(env: CompilerEnv, uri: str) -> Character:
    """Return the character of the program that `env` holds."""
    counts = env.observation["InstCountDict"]
    total = counts["TotalInstsCount"]

    def share(kinds: tuple[str, ...]) -> float:
        return round(sum(counts[f"{kind}Count"] for kind in kinds) / max(1, total), 4)

    return Character(uri, int(total), share(BRANCHES), share(MEMORY), share(ARITHMETIC))


def read(name: str, folder: Path = FOLDER) -> list[Character]:
    """Return what was measured of the dataset `name`; nothing if it was not."""
    path = folder / f"{slug(name)}.tsv"
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    return [Character(row[0], int(row[1]), *map(float, row[2:])) for row in rows]


def summary(measured: list[Character]) -> list[tuple[str, str, str, str]]:
    """Return, for each column, its name, least, median and greatest value."""
    rows: list[tuple[str, str, str, str]] = []
    for field in fields(Character)[1:]:
        values = sorted(getattr(one, field.name) for one in measured)
        form = "{:,}" if field.name == "instructions" else "{:.1%}"
        numbers = (values[0], median(values), values[-1])
        numbers = map(round, numbers) if field.name == "instructions" else numbers
        least, middle, most = map(form.format, numbers)
        rows.append((field.name, least, middle, most))
    return rows


def draw(measured: list[Character], title: str, path: Path) -> None:
    """Write a plot of the sizes, and of the shares against each other."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    with pyplot.rc_context({"svg.hashsalt": title, "font.size": 9}):
        figure, (sizes, shares) = pyplot.subplots(1, 2, figsize=(7.2, 2.6), layout="constrained")
        counts = [max(1, one.instructions) for one in measured]
        low, high = min(counts), max(counts) * 1.001
        edges = [low * (high / low) ** (i / 14) for i in range(15)] if high > low * 1.01 else 10
        sizes.hist(counts, bins=edges, color="#4477aa")
        sizes.set(xscale="log", xlabel="instructions", ylabel="programs")
        kinds = ("branches", "memory", "arithmetic")
        columns = [[100 * getattr(one, kind) for one in measured] for kind in kinds]
        shares.boxplot(
            columns, orientation="horizontal", widths=0.55, medianprops={"color": "#aa3377"}
        )
        shares.set_yticks(range(1, len(kinds) + 1), kinds)
        shares.set(xlabel="% of instructions", xlim=(0, None))
        for axes in (sizes, shares):
            axes.spines[["top", "right"]].set_visible(False)
        figure.suptitle(f"{title}: {len(measured)} programs as they are read", fontsize=10)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


def write(measured: list[Character], path: Path) -> None:
    """Write the table of what was measured."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow([field.name for field in fields(Character)])
        writer.writerows(astuple(one) for one in measured)


def chosen(datasets: Datasets, names: list[str]) -> list[Dataset]:
    """Return the datasets of those names, or all that need no network; they are installed."""
    if not names:
        kept = [d for d in datasets if not d.has_site_data or _is_generator(d)]
        return [dataset for dataset in kept if dataset.installed]
    found = [datasets.dataset(name) for name in names]
    for dataset in found:
        if not dataset.installed:
            plain = dataset.name.removeprefix("benchmark://")
            sys.exit(
                f"{dataset.name} is not installed: run `compiler-gym datasets install {plain}`"
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.characterise", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="datasets (default: all at hand)")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    with compiler_gym.make("llvm-v0") as env:
        for dataset in chosen(env.datasets, options.names):
            most = min(dataset.size or MOST_PROGRAMS, MOST_PROGRAMS)
            measured = list(characters(env, dataset, most))
            path = folder / f"{slug(dataset.name)}.tsv"
            write(measured, path)
            draw(measured, slug(dataset.name), path.with_suffix(".svg"))
            print(f"{dataset.name}: {len(measured)} programs")


def _is_generator(dataset: Dataset) -> bool:
    return dataset.scheme == "generator"


if __name__ == "__main__":
    main()
