# SPDX-License-Identifier: MIT
"""A collection of datasets: looked up by address, listed in order, sampled together.

The catalogue opens and downloads nothing by itself: a dataset that is not installed is left
out of iteration and sampling, and is installed when you request it by name.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from compiler_gym.datasets.benchmark import Benchmark
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.uri import BenchmarkUri
from compiler_gym.errors import BenchmarkInitError, InvalidParameterError, UnknownNameError
from compiler_gym.errors.nearest import did_you_mean, nearest
from compiler_gym.lazy import load_named

if TYPE_CHECKING:
    from numpy.random import Generator

_Item = TypeVar("_Item")
_MOST_PROGRAMS = 2000
"""The largest dataset whose program names are searched for suggestions."""
_SHOWN_NAMES = 4
"""The number of datasets that a message lists."""


class Datasets:
    """An ordered collection of datasets.

    Iteration and sampling cover the datasets that are installed and not hidden; any dataset can
    be requested by name. A dataset whose name is a bare scheme, such as ``file://``, serves all
    addresses of that scheme that no other dataset serves; hide it if it cannot list them.
    """

    def __init__(
        self, datasets: Iterable[Dataset] = (), uri_keys: Iterable[str] | None = None
    ) -> None:
        self._datasets: dict[str, Dataset] = {}
        self.uri_keys = None if uri_keys is None else tuple(uri_keys)
        """The query keys of an address that the compiler reads, in addition to those of the
        dataset; None allows any."""
        self.generator: Generator | None = None
        """The generator of `random_benchmark`; an environment sets it at ``reset(seed=...)``."""
        for dataset in datasets:
            self.add(dataset)

    def add(self, dataset: Dataset) -> None:
        """Add `dataset`, replacing any dataset of the same name."""
        self._datasets[dataset.name] = dataset

    def remove(self, dataset: str | Dataset) -> None:
        """Remove a dataset from the collection; its files are not deleted."""
        del self._datasets[self.dataset(dataset).name]

    def copy(self) -> "Datasets":
        """Return a new collection of the same datasets, without a generator."""
        return Datasets(self._datasets.values(), self.uri_keys)

    def datasets(self, with_deprecated: bool = False) -> Iterator[Dataset]:
        """Yield the datasets in order; include hidden ones if `with_deprecated`."""
        ordered = sorted(self._datasets.values())
        yield from (d for d in ordered if with_deprecated or not d.hidden)

    def dataset(self, dataset: str | Dataset) -> Dataset:
        """Return the dataset of that name, or raise `UnknownNameError` with close matches."""
        if isinstance(dataset, Dataset):
            return self.dataset(dataset.name)
        return self.dataset_from_parsed_uri(_parse_dataset(dataset))

    def dataset_from_parsed_uri(self, uri: BenchmarkUri) -> Dataset:
        """Return the dataset that serves `uri`: the one of its name, or else of its scheme."""
        dataset = self._serving(uri)
        if dataset is None:
            raise self._unknown(uri)
        return dataset

    def benchmarks(self, with_deprecated: bool = False) -> Iterator[Benchmark]:
        """Yield programs from each installed dataset in turn, read lazily."""
        datasets = self._ready(with_deprecated)
        return _round_robin([iter(dataset.benchmarks()) for dataset in datasets])

    def benchmark_uris(self, with_deprecated: bool = False) -> Iterator[str]:
        """Yield addresses from each installed dataset in turn."""
        datasets = self._ready(with_deprecated)
        return _round_robin([iter(dataset.benchmark_uris()) for dataset in datasets])

    def benchmark(self, uri: str | BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, installing its dataset if necessary."""
        parsed = uri if isinstance(uri, BenchmarkUri) else BenchmarkUri.from_string(uri)
        return self.benchmark_from_parsed_uri(parsed)

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, installing its dataset if necessary.

        Raises `BenchmarkInitError` if its query has an unknown key.
        """
        dataset = self.dataset_from_parsed_uri(uri)
        self.require_known_keys(uri)
        return dataset.benchmark(uri)

    def require_known_keys(self, uri: BenchmarkUri) -> None:
        """Raise `BenchmarkInitError` if neither compiler nor dataset reads a key of `uri`."""
        if self.uri_keys is None or not uri.params:
            return
        dataset = self._serving(uri)
        keys = sorted({*self.uri_keys, *(dataset.uri_keys if dataset is not None else ())})
        for key in uri.params:
            if key not in keys:
                choices = f"known keys: {', '.join(keys)}" if keys else "it takes no keys"
                hint = did_you_mean(key, keys, cutoff=0.3) or choices
                raise BenchmarkInitError(f"unknown key {key!r} in {uri}: {hint}")

    def random_benchmark(
        self,
        random_state: "Generator | None" = None,
        weighted: bool = False,
        weights: Mapping[str, float] | None = None,
    ) -> Benchmark:
        """Return a random program from a randomly chosen dataset.

        Installed datasets are equally likely; or likely in proportion to their number of
        programs if `weighted`, where an unbounded dataset counts as 0; or in proportion to
        `weights`, by name. Without a `random_state`, `generator` is used.
        """
        generator = self._generator() if random_state is None else random_state
        chances = self._chances(weighted, weights)
        total = sum(chances.values())
        if not chances or total <= 0:
            raise UnknownNameError("no dataset to choose from: install one first")
        names = list(chances)
        probabilities = [chances[name] / total for name in names]
        name = names[int(generator.choice(len(names), p=probabilities))]
        return self._datasets[name].random_benchmark(generator)

    @property
    def size(self) -> int:
        """The number of datasets that are not hidden."""
        return sum(1 for _ in self.datasets())

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Dataset]:
        return self.datasets()

    def __getitem__(self, name: str) -> Dataset:
        return self.dataset(name)

    def __setitem__(self, name: str, dataset: Dataset) -> None:
        if _parse_dataset(name).dataset_name != dataset.name:
            raise UnknownNameError(f"{dataset.name} cannot be stored as {name!r}")
        self.add(dataset)

    def __delitem__(self, name: str) -> None:
        self.remove(name)

    def __contains__(self, name: object) -> bool:
        if isinstance(name, Dataset):
            return name.name in self._datasets
        if not isinstance(name, (str, BenchmarkUri)):
            return False
        try:
            self.dataset_from_parsed_uri(_parse_dataset(str(name)))
        except (UnknownNameError, BenchmarkInitError):
            return False
        return True

    def __repr__(self) -> str:
        return f"Datasets({[dataset.name for dataset in self.datasets(with_deprecated=True)]})"

    def _serving(self, uri: BenchmarkUri) -> Dataset | None:
        return self._datasets.get(uri.dataset_name) or self._datasets.get(f"{uri.scheme}://")

    def _ready(self, with_deprecated: bool) -> list[Dataset]:
        return [dataset for dataset in self.datasets(with_deprecated) if dataset.installed]

    def _generator(self) -> "Generator":
        if self.generator is None:
            from numpy.random import default_rng

            self.generator = default_rng()
        return self.generator

    def _chances(self, weighted: bool, weights: Mapping[str, float] | None) -> dict[str, float]:
        if weights is not None:
            if not all(0 <= weight < math.inf for weight in weights.values()):
                raise InvalidParameterError(
                    f"weights must be finite and not negative (got {dict(weights)})"
                )
            return {self.dataset(name).name: float(weight) for name, weight in weights.items()}
        return {d.name: float(d.size) if weighted else 1.0 for d in self._ready(False)}

    def _unknown(self, uri: BenchmarkUri) -> UnknownNameError:
        names = [dataset.name for dataset in self.datasets(with_deprecated=True)]
        bare = {name.partition("://")[2]: name for name in names if not name.endswith("://")}
        stem, _, version = uri.dataset.rpartition("-")
        longer = [
            n for n in bare if stem and n.startswith(f"{stem}-") and n.endswith(f"-{version}")
        ]
        close = [bare[name] for name in longer or nearest(uri.dataset, bare)]
        if not close and uri.path in ("", "/"):
            close = self._programs_called(uri.dataset)
        hint = f"did you mean {', '.join(close)}?" if close else f"known: {_few(names)}"
        advice = load_named("compiler_gym.compat.old_datasets:advice_for")(uri.dataset_name, names)
        return UnknownNameError(f"no dataset {uri.dataset_name!r}: {hint}{advice}")

    def _programs_called(self, name: str) -> list[str]:
        """Return the addresses of programs in small datasets whose names are close to `name`."""
        addresses: dict[str, list[str]] = {}
        for dataset in self._ready(False):
            if 0 < dataset.size <= _MOST_PROGRAMS:
                for uri in dataset.benchmark_uris():
                    path = BenchmarkUri.from_string(uri).path.strip("/")
                    if "/" not in path:  # modules of packages are similar by chance only
                        addresses.setdefault(path, []).append(uri.removeprefix("benchmark://"))
        exact = addresses.get(name, [])
        return exact or [uri for near in nearest(name, addresses) for uri in addresses[near]]


def _few(names: Sequence[str]) -> str:
    count = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {count} more" if count > 0 else "")


def _parse_dataset(name: str) -> BenchmarkUri:
    return BenchmarkUri.from_string(name)


def _round_robin(iterators: list[Iterator[_Item]]) -> Iterator[_Item]:
    while iterators:
        remaining: list[Iterator[_Item]] = []
        for iterator in iterators:
            # Draw an item only after the previous one was consumed: reading one may be slow.
            for item in iterator:
                yield item
                remaining.append(iterator)
                break
        iterators = remaining
