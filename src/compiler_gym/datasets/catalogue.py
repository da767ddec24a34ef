# SPDX-License-Identifier: MIT
"""Several datasets as one: looked up by address, listed in order, sampled together.

The catalogue opens nothing and fetches nothing by itself: a dataset that is not
installed is left out of iteration and sampling, and installed when it is asked for
by name.
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

__all__ = ["Datasets"]

_Item = TypeVar("_Item")
_MOST_PROGRAMS = 2000
"""The size of the largest dataset whose programs are searched for a name."""
_SHOWN_NAMES = 4
"""Number of datasets that a message lists."""


class Datasets:
    """An ordered collection of datasets.

    Iteration and sampling see the datasets that are installed and not hidden;
    every dataset can be asked for by name. A dataset whose name is a bare scheme,
    such as ``file://``, serves every address of that scheme that no other does; make
    it hidden if it cannot list them.
    """

    def __init__(
        self, datasets: Iterable[Dataset] = (), uri_keys: Iterable[str] | None = None
    ) -> None:
        self._datasets: dict[str, Dataset] = {}
        self.uri_keys = None if uri_keys is None else tuple(uri_keys)
        """The keys of an address's query that a compiler reads, beside those of the dataset;
        None allows any."""
        self.generator: Generator | None = None
        """What `random_benchmark` draws from; an environment sets it at ``reset(seed=...)``."""
        for dataset in datasets:
            self.add(dataset)

    def add(self, dataset: Dataset) -> None:
        """Add `dataset`, in the place of one of the same name if there is one."""
        self._datasets[dataset.name] = dataset

    def remove(self, dataset: str | Dataset) -> None:
        """Take a dataset out of the collection; its files stay."""
        del self._datasets[self.dataset(dataset).name]

    def copy(self) -> "Datasets":
        """Return another collection of the same datasets, with no generator."""
        return Datasets(self._datasets.values(), self.uri_keys)

    def datasets(self, with_deprecated: bool = False) -> Iterator[Dataset]:
        """Yield the datasets in order; hidden ones only if `with_deprecated`."""
        ordered = sorted(self._datasets.values())
        yield from (d for d in ordered if with_deprecated or not d.hidden)

    def dataset(self, dataset: str | Dataset) -> Dataset:
        """Return the dataset of that name; raise `UnknownNameError` with close matches."""
        if isinstance(dataset, Dataset):
            return self.dataset(dataset.name)
        return self.dataset_from_parsed_uri(_parse_dataset(dataset))

    def dataset_from_parsed_uri(self, uri: BenchmarkUri) -> Dataset:
        """Return the dataset that serves `uri`: the one of its name, or of its whole scheme."""
        found = self._serving(uri)
        if found is None:
            raise self._unknown(uri)
        return found

    def benchmarks(self, with_deprecated: bool = False) -> Iterator[Benchmark]:
        """Yield programs from each installed dataset in turn, each read when asked for."""
        datasets = self._ready(with_deprecated)
        return _round_robin([iter(dataset.benchmarks()) for dataset in datasets])

    def benchmark_uris(self, with_deprecated: bool = False) -> Iterator[str]:
        """Yield addresses from each installed dataset in turn."""
        datasets = self._ready(with_deprecated)
        return _round_robin([iter(dataset.benchmark_uris()) for dataset in datasets])

    def benchmark(self, uri: str | BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, installing its dataset if need be."""
        parsed = uri if isinstance(uri, BenchmarkUri) else BenchmarkUri.from_string(uri)
        return self.benchmark_from_parsed_uri(parsed)

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, installing its dataset if need be.

        Raises `BenchmarkInitError` if its query has a key that nobody reads.
        """
        dataset = self.dataset_from_parsed_uri(uri)
        self.require_known_keys(uri)
        return dataset.benchmark(uri)

    def require_known_keys(self, uri: BenchmarkUri) -> None:
        """Raise `BenchmarkInitError` if `uri` has a key that neither compiler nor dataset reads."""
        if self.uri_keys is None or not uri.params:
            return
        dataset = self._serving(uri)
        known = sorted({*self.uri_keys, *(dataset.uri_keys if dataset is not None else ())})
        for key in uri.params:
            if key not in known:
                there = f"known: {', '.join(known)}" if known else "expected none"
                hint = did_you_mean(key, known, cutoff=0.3) or there
                raise BenchmarkInitError(f"{uri} has a key {key!r} that nothing reads: {hint}")

    def random_benchmark(
        self,
        random_state: "Generator | None" = None,
        weighted: bool = False,
        weights: Mapping[str, float] | None = None,
    ) -> Benchmark:
        """Return a program of a dataset chosen at random.

        Each installed dataset is equally likely, or likely in proportion to its
        number of programs if `weighted` (one without end then counts as
        nothing), or as `weights` says by name. Without a `random_state`, draws
        come from `generator`.
        """
        generator = self._generator() if random_state is None else random_state
        chances = self._chances(weighted, weights)
        total = sum(chances.values())
        if not chances or total <= 0:
            raise UnknownNameError("no dataset to choose from: expected one that is installed")
        names = list(chances)
        probabilities = [chances[name] / total for name in names]
        chosen = names[int(generator.choice(len(names), p=probabilities))]
        return self._datasets[chosen].random_benchmark(generator)

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
                    f"weights are finite numbers >= 0, found {dict(weights)}"
                )
            return {self.dataset(name).name: float(weight) for name, weight in weights.items()}
        return {d.name: float(d.size) if weighted else 1.0 for d in self._ready(False)}

    def _unknown(self, uri: BenchmarkUri) -> UnknownNameError:
        known = [dataset.name for dataset in self.datasets(with_deprecated=True)]
        bare = {name.partition("://")[2]: name for name in known if not name.endswith("://")}
        stem, _, version = uri.dataset.rpartition("-")
        longer = [
            n for n in bare if stem and n.startswith(f"{stem}-") and n.endswith(f"-{version}")
        ]
        close = [bare[name] for name in longer or nearest(uri.dataset, bare)]
        if not close and uri.path in ("", "/"):
            close = self._programs_called(uri.dataset)
        hint = f"did you mean {', '.join(close)}?" if close else f"known: {_few(known)}"
        advice = load_named("compiler_gym.compat.old_datasets:advice_for")(uri.dataset_name, known)
        return UnknownNameError(f"no dataset {uri.dataset_name!r}: {hint}{advice}")

    def _programs_called(self, name: str) -> list[str]:
        """Return the addresses of programs of small datasets whose own name is close to `name`."""
        addresses: dict[str, list[str]] = {}
        for dataset in self._ready(False):
            if 0 < dataset.size <= _MOST_PROGRAMS:
                for uri in dataset.benchmark_uris():
                    plain = uri.removeprefix("benchmark://")
                    addresses.setdefault(uri.rpartition("/")[2], []).append(plain)
        exact = addresses.get(name, [])
        return exact or [uri for near in nearest(name, addresses) for uri in addresses[near]]


def _few(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _parse_dataset(name: str) -> BenchmarkUri:
    return BenchmarkUri.from_string(name)


def _round_robin(iterators: list[Iterator[_Item]]) -> Iterator[_Item]:
    while iterators:
        remaining: list[Iterator[_Item]] = []
        for iterator in iterators:
            # One item is drawn only when the one before it has been taken.
            for item in iterator:
                yield item
                remaining.append(iterator)
                break
        iterators = remaining
