# SPDX-License-Identifier: MIT
"""The steps from a corpus to labels: bases, useful passes, mined tails, chosen tails, labels.

Each step is stored in the run's folder, package by package, and is not repeated: an interrupted
run continues with the same call. All depends on the corpus, the options and the seed alone.

    bases/PACKAGE/*.bc     sampled modules after ``clang -Oz``
    passes.json            the passes that change functions, the most useful first
    mined/PACKAGE.json     what the search found for functions of a training package
    tails.json             the chosen tails, the best alone first
    labels/PACKAGE.npz     functions, their features, and what each probe and tail leaves
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import InvalidParameterError
from compiler_gym.files import write_whole
from compiler_gym.tools.learn.tails.covering import cover, package_weights
from compiler_gym.tools.learn.tails.labels import COLUMNS, Labels
from compiler_gym.tools.learn.tails.llvm import engine
from compiler_gym.tools.learn.tails.llvm.corpus import CorpusModule, list_modules
from compiler_gym.tools.learn.tails.llvm.passes import PASSES, PROBES
from compiler_gym.tools.learn.tails.options import TailOptions
from compiler_gym.tools.learn.tails.workers import call_each

__all__ = ["TailRun"]

_Value = TypeVar("_Value")
_CANDIDATES = 160
"""The mined tails that are labelled before some of them are chosen."""


class TailRun:
    """The folder of a run; use it from one process at a time."""

    def __init__(
        self,
        folder: Path,
        corpus: Path,
        options: TailOptions,
        watch: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.folder, self.options, self._watch = folder, options, watch
        modules = list_modules(
            corpus, per_package=options.per_package, most_bytes=options.most_bytes
        )
        settings = {"corpus": str(corpus.resolve()), **asdict(options)}
        del settings["jobs"]
        if self._store("run.json", lambda: settings, dict[str, Any]) != settings:
            raise InvalidParameterError(
                f"{folder} contains a run with other options: choose another folder"
            )
        self._modules: dict[str, list[CorpusModule]] = defaultdict(list)
        for module in modules:
            self._modules[module.package].append(module)
        self._make_bases()
        self._packages = [name for name in self._modules if self._base_paths(name)]

    def packages(self, *splits: str) -> list[str]:
        """Return the packages of some splits."""
        return [name for name in self._packages if self._modules[name][0].split in splits]

    @cached_property
    def passes(self) -> list[str]:
        """The passes that change the size of functions, those that change most functions first."""
        return self._store("passes.json", self._order_passes, list[str])

    @cached_property
    def tails(self) -> list[str]:
        """The chosen tails, in the order in which they add most to those before."""
        return self._store("tails.json", self._choose_tails, list[str])

    def labels(self, *splits: str) -> Labels:
        """Return the labels of all functions in the packages of some splits."""
        packages = self.packages(*splits)
        tails = [*PROBES, *self.tails]
        for package, own in self._each(
            engine.label,
            {
                package: [(base, tails) for base in self._bases(package)]
                for package in packages
                if not self._labels_path(package).is_file()
            },
        ):
            self._write_labels(package, own)
        parts: list[dict[str, NDArray[Any]]] = []
        for package in packages:
            with np.load(self._labels_path(package), allow_pickle=False) as stored:
                parts.append(dict(stored))
        return Labels(*(np.concatenate([part[name] for part in parts]) for name in COLUMNS))

    def _order_passes(self) -> list[str]:
        firsts = {package: self._bases(package)[:1] for package in self.packages("train")}
        calls = {package: [(base, PASSES) for base in own] for package, own in firsts.items()}
        changes = np.zeros(len(PASSES))
        for _, labels in self._each(engine.label, calls):
            for described, left in filter(None, labels):
                changes += (left != described.instructions[:, None]).sum(axis=0)
        return [PASSES[place] for place in np.argsort(-changes, kind="stable") if changes[place]]

    def _choose_tails(self) -> list[str]:
        """Label the most useful mined tails on the functions of the search, and cover those."""
        mined = self._mine()
        candidates = _gather(mined, _CANDIDATES)
        calls = {
            package: [
                (base, candidates, [function.name for function in own])
                for base, own in zip(self._bases(package), modules, strict=True)
            ]
            for package, modules in mined.items()
        }
        owners: list[str] = []
        sizes: list[NDArray[np.int32]] = []
        left: list[NDArray[np.int32]] = []
        for package, labels in self._each(engine.label, calls):
            for described, results in filter(None, labels):
                owners += [package] * len(described.names)
                sizes.append(described.instructions)
                left.append(results)
        instructions = np.concatenate(sizes)
        savings = np.maximum(instructions[:, None] - np.concatenate(left), 0).astype(np.float64)
        chosen = cover(savings, package_weights(owners, instructions), self.options.tails)
        return [candidates[column] for column in chosen]

    def _mine(self) -> dict[str, list[list[engine.Mined]]]:
        """Return what a search found in each module of the training packages."""
        packages = self.packages("train")
        calls: dict[str, list[tuple[Any, ...]]] = {}
        for package in packages:
            if not (self.folder / f"mined/{package}.json").is_file():
                bases = self._bases(package)
                share = self.options.mined // max(len(bases), 1)
                calls[package] = [(b, self.passes, share, self.options.seed) for b in bases]
        for package, found in self._each(engine.mine, calls):
            own = [functions or [] for functions in found]
            write_whole(self.folder / f"mined/{package}.json", msgspec.json.encode(own))
        return {
            package: msgspec.json.decode(
                (self.folder / f"mined/{package}.json").read_bytes(), type=list[list[engine.Mined]]
            )
            for package in packages
        }

    def _write_labels(self, package: str, labels: Sequence[Any]) -> None:
        columns: dict[str, list[NDArray[Any]]] = defaultdict(list)
        for path, label in zip(self._base_paths(package), labels, strict=True):
            if label is None:
                continue
            described, left = label
            columns["packages"].append(np.full(len(described.names), package))
            columns["modules"].append(np.full(len(described.names), path.stem))
            columns["names"].append(np.array(described.names, dtype=np.str_))
            columns["shapes"].append(described.shapes)
            columns["instructions"].append(described.instructions)
            columns["features"].append(described.features)
            columns["probes"].append(left[:, : len(PROBES)])
            columns["left"].append(left[:, len(PROBES) :])
        file = BytesIO()
        np.savez_compressed(
            file, allow_pickle=False, **{name: np.concatenate(columns[name]) for name in COLUMNS}
        )
        write_whole(self._labels_path(package), file.getvalue())

    def _labels_path(self, package: str) -> Path:
        return self.folder / "labels" / f"{package}.npz"

    def _bases(self, package: str) -> list[bytes]:
        return [path.read_bytes() for path in self._base_paths(package)]

    def _base_paths(self, package: str) -> list[Path]:
        """Return the files of a package's bases; modules on which the compiler fails have none."""
        paths = [
            self.folder / "bases" / package / module.path.name for module in self._modules[package]
        ]
        return [path for path in paths if path.stat().st_size]

    def _make_bases(self) -> None:
        calls = {
            package: [(module.path.read_bytes(),) for module in own]
            for package, own in self._modules.items()
            if not (self.folder / "bases" / package / own[-1].path.name).is_file()
        }
        for package, bases in self._each(engine.make_base, calls):
            for module, base in zip(self._modules[package], bases, strict=True):
                write_whole(self.folder / "bases" / package / module.path.name, base or b"")

    def _each(
        self, function: Callable[..., _Value], calls: Mapping[str, list[tuple[Any, ...]]]
    ) -> Iterator[tuple[str, list[_Value | None]]]:
        """Call a function of the engine for each module of each package; yield by package."""
        everything = [call for own in calls.values() for call in own]
        results = call_each(function, everything, jobs=self.options.jobs)
        for package, own in calls.items():
            self._watch(f"{function.__name__}: {package}")
            yield package, [next(results) for _ in own]

    def _store(self, name: str, make: Callable[[], _Value], kind: Any) -> _Value:
        """Return the contents of a file, which `make` provides if there is none."""
        path = self.folder / name
        if not path.is_file():
            self._watch(name)
            write_whole(path, msgspec.json.encode(make()))
        return msgspec.json.decode(path.read_bytes(), type=kind)


def _gather(mined: Mapping[str, list[list[engine.Mined]]], count: int) -> list[str]:
    """Return the mined tails that together save most, as far as the search tried them."""
    functions = [
        (package, function)
        for package, modules in mined.items()
        for module in modules
        for function in module
    ]
    weights = package_weights(
        [package for package, _ in functions],
        np.array([function.instructions for _, function in functions], np.int32),
    )
    names = sorted({tail for _, function in functions for tail in function.tails})
    places = {tail: place for place, tail in enumerate(names)}
    savings = np.zeros((len(functions), len(names)))
    for row, (_, function) in enumerate(functions):
        for tail, left in function.tails.items():
            savings[row, places[tail]] = function.instructions - left
    chosen = cover(savings, weights, count)
    others = np.argsort(-(weights @ savings), kind="stable").tolist()
    return [names[place] for place in dict.fromkeys([*chosen, *others][: len(names)])][:count]
