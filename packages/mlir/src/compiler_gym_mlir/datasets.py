# SPDX-License-Identifier: MIT
"""The payloads: kernels of any size, layers of networks, random chains, and files."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

from compiler_gym.datasets import (
    Benchmark,
    BenchmarkSource,
    BenchmarkUri,
    BenchmarkWithSource,
    Dataset,
)
from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError, UnknownNameError
from compiler_gym.files import read_regular
from compiler_gym_mlir.programs.builders import KERNELS, build
from compiler_gym_mlir.programs.description import describe_payload
from compiler_gym_mlir.programs.random_chain import random_chain
from compiler_gym_mlir.programs.shapes import LAYERS

__all__ = [
    "FileDataset",
    "KernelDataset",
    "LayerDataset",
    "MatmulBenchmark",
    "MatmulDataset",
    "RandomDataset",
    "make_benchmark",
    "make_datasets",
]
__path__: list[str] = []  # `compat` finds old paths below this one

_LARGEST_SEED = 2**32 - 1


class KernelDataset(Dataset):
    """``benchmark://linalg-v0/matmul/512x512x512``: a kernel of any size."""

    uri_keys: ClassVar[tuple[str, ...]] = ("type",)

    def __init__(self) -> None:
        super().__init__("benchmark://linalg-v0", "Kernels of any size, on tensors", "MIT")

    @property
    def size(self) -> int:
        """Number of listed programs: each kernel in one size; any other size works too."""
        return len(KERNELS)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of each kernel in its default size."""
        for kernel in KERNELS.values():
            yield f"{self.name}/{kernel.name}/{'x'.join(map(str, kernel.default))}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the kernel at `uri`."""
        name, _, sizes = uri.path.strip("/").partition("/")
        return Benchmark(uri, build(name, _numbers_between(sizes, "x", str(uri))).encode())


class LayerDataset(Dataset):
    """``benchmark://layers-v0/resnet18/conv2_1``: a layer of a network."""

    uri_keys: ClassVar[tuple[str, ...]] = ("type",)

    def __init__(self) -> None:
        super().__init__("benchmark://layers-v0", "Layers of networks", "MIT", sort_order=1)

    @property
    def size(self) -> int:
        """Number of programs."""
        return sum(map(len, LAYERS.values()))

    def benchmark_uris(self) -> Iterator[str]:
        """Yield every address."""
        for network, layers in LAYERS.items():
            yield from (f"{self.name}/{network}/{layer}" for layer in layers)

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the layer at `uri`."""
        network, _, layer = uri.path.strip("/").partition("/")
        if layer not in LAYERS.get(network, {}):
            raise UnknownNameError(f"no layer {uri}; the networks are {', '.join(LAYERS)}")
        return Benchmark(uri, build(*LAYERS[network][layer]).encode())


class RandomDataset(Dataset):
    """``generator://linalg-v0/N``: a random chain of operations with the seed N."""

    uri_keys: ClassVar[tuple[str, ...]] = ("type",)

    def __init__(self) -> None:
        super().__init__(
            "generator://linalg-v0", "Random chains of operations", "MIT", sort_order=2
        )

    def benchmark_uris(self) -> Iterator[str]:
        """Yield an address for every seed."""
        yield from (f"{self.name}/{number}" for number in itertools.count())

    def benchmark_uri_at(self, index: int) -> str:
        """Return the address of a seed without counting up to it."""
        return f"{self.name}/{index}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the chain of the seed in `uri`."""
        number = uri.path.strip("/")
        if not number.isdecimal() or int(number) > _LARGEST_SEED:
            raise UnknownNameError(f"no program {number!r} in {self.name}: use a number")
        return Benchmark(uri, random_chain(int(number)).encode())


class MatmulBenchmark(BenchmarkWithSource):
    """A matrix product; its source is the payload itself, ``source.mlir``."""

    @classmethod
    def create(  # type: ignore[override]  # 0.2.5's arguments: its source has one name
        cls, uri: str | BenchmarkUri, bitcode: bytes, src: bytes
    ) -> "MatmulBenchmark":
        """Return the program `bitcode` compiled from `src`; here both are MLIR."""
        return cls(uri, bitcode, sources=[BenchmarkSource("source.mlir", src)])


class MatmulDataset(Dataset):
    """``generator://matmul-v0/64_64_64``: matrix products by their sizes m, n and k."""

    def __init__(
        self,
        site_data_base: Path | None = None,
        sort_order: int = 3,
        matmul_bin: Path | None = None,
        matmul_includes: Path | None = None,
    ) -> None:
        super().__init__(
            "generator://matmul-v0",
            "Matrix products; the names are sizes m_n_k",
            "MIT",
            site_data_base=site_data_base,
            benchmark_class=MatmulBenchmark,
            sort_order=sort_order,
        )

    @property
    def size(self) -> int:
        """Number of listed programs: one, as in CompilerGym 0.2.5."""
        return 1

    def name_from_size(self, mnk: Iterable[int]) -> str:
        """Return the address of a size.

        >>> MatmulDataset().name_from_size((64, 32, 16))
        'generator://matmul-v0/64_32_16'
        """
        return f"{self.name}/{'_'.join(map(str, mnk))}"

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the only listed address."""
        yield self.name_from_size((64, 64, 64))

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the matrix product of the sizes in `uri`."""
        sizes = _numbers_between(uri.path.strip("/"), "_", str(uri))
        payload = build("matmul", sizes).encode()
        return MatmulBenchmark.create(uri, payload, payload)

    def benchmark_from_size(
        self, mnk: Iterable[int], max_retries: int = 3, retry_count: int = 0
    ) -> Benchmark:
        """Return the matrix product of these sizes.

        Nothing here fails at random, so nothing is retried. Raises `BenchmarkInitError`, an
        `OSError`, if `retry_count` is not below `max_retries`.
        """
        if retry_count >= max_retries:
            raise BenchmarkInitError(
                f"matmul failed after {retry_count} attempts with size {tuple(mnk)}: set "
                f"max_retries ({max_retries}) above retry_count"
            )
        return self.benchmark(self.name_from_size(mnk))


class FileDataset(Dataset):
    """``file:///path``: a payload in a file."""

    def __init__(self) -> None:
        super().__init__("file://", "A payload in a file: .mlir", "the file's own", hidden=True)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield nothing: files are not listed."""
        return iter(())

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the payload in the file named by `uri`."""
        return _from_file(Path(unquote(uri.path, errors="surrogateescape")), uri)


def make_benchmark(source: str | Path, element: str = "f32") -> Benchmark:
    """Return a payload from a path, from MLIR text, or from a one-line description.

    >>> make_benchmark("y[i] = a[i] + b[i]; i=8").contents.decode().count("linalg.generic")
    1
    """
    if isinstance(source, Path) or source.endswith(".mlir"):
        path = Path(source)
        return _from_file(path, BenchmarkUri.from_string(f"file://{path.absolute()}"))
    text = source if "func.func" in source else describe_payload(source, element)
    return Benchmark("benchmark://user-v0/payload", text.encode())


def make_datasets() -> list[Dataset]:
    """Return every dataset."""
    return [KernelDataset(), LayerDataset(), RandomDataset(), MatmulDataset(), FileDataset()]


def _from_file(path: Path, uri: BenchmarkUri) -> Benchmark:
    try:
        return Benchmark(uri, read_regular(path))
    except FileNotFoundError as error:
        raise BenchmarkNotFoundError(f"no file {path}") from error
    except OSError as error:
        raise BenchmarkInitError(f"cannot read {path}: {error}") from error


def _numbers_between(text: str, separator: str, uri: str) -> tuple[int, ...]:
    parts = text.split(separator) if text else []
    if not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise BenchmarkInitError(f"{uri}: write sizes joined with {separator!r} (got {text!r})")
    return tuple(map(int, parts))
