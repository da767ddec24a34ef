# SPDX-License-Identifier: MIT
"""The steps from a corpus to labels: bases, useful passes, mined tails, chosen tails, labels.

Each step is stored in the run's folder, package by package, and is not repeated: an interrupted
run continues with the same call. All depends on the corpus, the options and the seed alone.

    bases/PACKAGE/*.bc     sampled modules after ``clang -Oz``
    passes.json            the passes that change functions, the most useful first
    mined/PACKAGE.json     what the search found for functions of a training package
    tails.json             the chosen tails, the best alone first
    labels/PACKAGE.npz     functions, their features, and what each probe and tail leaves
    bytes/                 `tails.json` for bytes, and judgements of that goal
    outcomes/PACKAGE.npz   what the tails of a `TailTable` leave, in instructions and in bytes
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
from compiler_gym.options import list_options
from compiler_gym.tools.learn.tails.covering import cover, package_weights
from compiler_gym.tools.learn.tails.judging import JudgedWay, compare_ways
from compiler_gym.tools.learn.tails.labels import Labels
from compiler_gym.tools.learn.tails.llvm import engine, mining
from compiler_gym.tools.learn.tails.llvm.corpus import CorpusModule, list_modules
from compiler_gym.tools.learn.tails.llvm.passes import PASSES, PROBES
from compiler_gym.tools.learn.tails.options import TailGoal, TailOptions
from compiler_gym.tools.learn.tails.table import TailColumns, TailTable
from compiler_gym.tools.learn.tails.workers import call_each, call_each_on_ray

__all__ = ["TailRun"]

_Value = TypeVar("_Value")
_CANDIDATES = 160
"""The mined tails that are labelled before some of them are chosen."""
_SECONDS = 600
"""The limit of a call, most of which take a few seconds."""


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
        for name, declared in list_options(TailOptions).items():
            if declared.may_change:
                del settings[name]
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

    @property
    def probes(self) -> list[str]:
        """The cheap passes whose effects a model may look at."""
        return list(PROBES)

    @cached_property
    def passes(self) -> list[str]:
        """The passes that change the size of functions, those that change most functions first."""
        return self._store("passes.json", self._order_passes, list[str])

    @property
    def tails(self) -> list[str]:
        """The tails chosen for the goal, in the order in which they add most to those before."""
        return self._tails(self.options.goal)

    @property
    def results(self) -> Path:
        """The folder for the model of the goal and for judgements."""
        return self._goal_folder(self.options.goal)

    def labels(self, *splits: str) -> Labels:
        """Return the labels of all functions in the packages of some splits."""
        if self.options.goal == TailGoal.BYTES:
            return self.table().labels(TailGoal.BYTES, *splits)
        tails = [*PROBES, *self.tails]
        return Labels(**self._label("labels", engine.label, tails, self._rows, *splits))

    def judge(self, split: str) -> list[JudgedWay]:
        """Fit a model without the packages of `split`, and compare ways to choose on these.

        The model and the rows are stored in the run's folder. The test packages are for one
        judgement, after which nothing may be changed.
        """
        learned = self.labels(*(("train", "validation") if split == "test" else ("train",)))
        judged = self.labels(split)
        model, rows = compare_ways(learned, judged, self.probes, self.tails, self.options.seed)
        model.goal = self.options.goal
        model.save(self.results / "model.json.xz")
        write_whole(self.results / f"judgement-{split}.json", msgspec.json.encode(rows))
        return rows

    def table(self) -> TailTable:
        """Return the outcomes of tails for both goals, in both units, on all functions."""
        return self._table

    @cached_property
    def _table(self) -> TailTable:
        covers = {goal: self._tails(goal) for goal in TailGoal}
        chosen = dict.fromkeys(tail for own in covers.values() for tail in own)
        more = dict.fromkeys([*_gather(self._mine(), _CANDIDATES), *self.passes])
        tails = [*(chosen | more)][: max(self.options.tails, len(chosen))]
        columns = self._label(
            "outcomes",
            engine.label_bytes,
            [*PROBES, *tails],
            self._table_rows,
            "validation",
            "test",
            "train",
        )
        places: dict[str, list[int]] = {
            goal: [tails.index(tail) for tail in own] for goal, own in covers.items()
        }
        return TailTable(
            TailColumns(**columns),
            tails,
            self.probes,
            engine.feature_names(),
            places,
            engine.COMPILER,
        )

    def _label(
        self,
        folder: str,
        function: Callable[..., Any],
        tails: Sequence[str],
        describe: Callable[..., dict[str, Any]],
        *splits: str,
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of all functions in some splits, which are stored by package."""
        packages = self.packages(*splits)
        paths = {package: self.folder / folder / f"{package}.npz" for package in packages}
        missing = [package for package, path in paths.items() if not path.is_file()]
        calls = {package: [(base, tails) for base in self._bases(package)] for package in missing}
        for package, own in self._each(function, calls):
            rows = [
                describe(package, path.stem, *label)
                for path, label in zip(self._base_paths(package), own, strict=True)
                if label is not None
            ]
            file = BytesIO()
            np.savez_compressed(file, allow_pickle=False, **_join(rows))
            write_whole(paths[package], file.getvalue())
        return _join([dict(np.load(path, allow_pickle=False)) for path in paths.values()])

    def _order_passes(self) -> list[str]:
        firsts = {package: self._bases(package)[:1] for package in self.packages("train")}
        calls = {package: [(base, PASSES) for base in own] for package, own in firsts.items()}
        changes = np.zeros(len(PASSES))
        for _, labels in self._each(engine.label, calls):
            for described, left in filter(None, labels):
                changes += (left != described.instructions[:, None]).sum(axis=0)
        return [PASSES[place] for place in np.argsort(-changes, kind="stable") if changes[place]]

    def _tails(self, goal: TailGoal) -> list[str]:
        name = str((self._goal_folder(goal) / "tails.json").relative_to(self.folder))
        return self._store(name, lambda: self._choose_tails(goal), list[str])

    def _choose_tails(self, goal: TailGoal) -> list[str]:
        """Label the most useful mined tails on the functions of the search, and cover those.

        For bytes, the single passes are candidates too, and the first two modules of each package
        are enough, since code generation takes longer than passes.
        """
        mined, count, modules = self._mine(), self.options.tails, None
        function, candidates = engine.label, _gather(mined, _CANDIDATES)
        if goal == TailGoal.BYTES:
            function, modules = engine.label_bytes, 2
            candidates = list(dict.fromkeys([*candidates, *self.passes]))
            count = max(count - len(self._tails(TailGoal.INSTRUCTIONS)), 1)
        calls = {
            package: [
                (base, candidates, [function.name for function in own])
                for base, own in list(zip(self._bases(package), found, strict=True))[:modules]
            ]
            for package, found in mined.items()
        }
        parts: list[dict[str, NDArray[Any]]] = []
        for package, labels in self._each(function, calls):
            for described, *own in filter(None, labels):
                sizes = own[1] if goal == TailGoal.BYTES else described.instructions
                owners = np.full(len(sizes), package)
                parts.append({"owners": owners, "sizes": sizes, "left": own[-1]})
        rows = _join(parts)
        savings = np.maximum(rows["sizes"][:, None] - rows["left"], 0).astype(np.float64)
        weights = package_weights(rows["owners"], rows["sizes"])
        return [candidates[column] for column in cover(savings, weights, count)]

    def _mine(self) -> dict[str, list[list[mining.Mined]]]:
        """Return what a search found in each module of the training packages."""
        packages = self.packages("train")
        calls: dict[str, list[tuple[Any, ...]]] = {}
        for package in packages:
            if not (self.folder / f"mined/{package}.json").is_file():
                bases = self._bases(package)
                share = self.options.mined // max(len(bases), 1)
                calls[package] = [(b, self.passes, share, self.options.seed) for b in bases]
        for package, found in self._each(mining.mine, calls):
            own = [functions or [] for functions in found]
            write_whole(self.folder / f"mined/{package}.json", msgspec.json.encode(own))
        return {
            package: msgspec.json.decode(
                (self.folder / f"mined/{package}.json").read_bytes(), type=list[list[mining.Mined]]
            )
            for package in packages
        }

    def _rows(
        self, package: str, module: str, described: engine.Described, left: NDArray[np.int32]
    ) -> dict[str, NDArray[Any]]:
        count = len(described.names)
        return {
            "packages": np.full(count, package),
            "modules": np.full(count, module),
            "names": np.array(described.names, dtype=np.str_),
            "shapes": described.shapes,
            "instructions": described.instructions,
            "sizes": described.instructions,
            "features": described.features,
            "probes": left[:, : len(PROBES)],
            "left": left[:, len(PROBES) :],
        }

    def _table_rows(
        self,
        package: str,
        module: str,
        described: engine.Described,
        left: NDArray[np.int32],
        sizes: NDArray[np.int32],
        left_bytes: NDArray[np.int32],
    ) -> dict[str, NDArray[Any]]:
        count = len(described.names)
        origin = next(own for own in self._modules[package] if own.path.stem == module)
        return {
            "package": np.full(count, package),
            "split": np.full(count, origin.split),
            "license": np.full(count, origin.license),
            "module": np.full(count, module),
            "name": np.array(described.names, dtype=np.str_),
            "shape": described.shapes,
            "instructions": described.instructions,
            "bytes": sizes,
            "features": described.features,
            "probes": left[:, : len(PROBES)],
            "left_instructions": left[:, len(PROBES) :],
            "left_bytes": left_bytes[:, len(PROBES) :],
        }

    def _goal_folder(self, goal: TailGoal) -> Path:
        return self.folder if goal == TailGoal.INSTRUCTIONS else self.folder / goal

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
        if self.options.ray:
            results = call_each_on_ray(function, everything, seconds=_SECONDS)
        else:
            results = call_each(function, everything, jobs=self.options.jobs, seconds=_SECONDS)
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


def _join(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return the rows of all parts; modules on which the compiler fails have none."""
    full = [part for part in parts if part]
    names = list(full[0]) if full else []
    return {name: np.concatenate([part[name] for part in full]) for name in names}


def _gather(mined: Mapping[str, list[list[mining.Mined]]], count: int) -> list[str]:
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
