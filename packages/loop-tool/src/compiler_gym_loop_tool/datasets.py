# SPDX-License-Identifier: MIT
"""The datasets: 0.2.5's additions, LoopTune's matmuls, random nests, layers, and user programs.

Every program is text in the language; nothing is compiled or downloaded here. The two classes for
CPU and CUDA keep their names from CompilerGym 0.2.5.
"""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset
from compiler_gym.errors import (
    BenchmarkInitError,
    UnknownNameError,
    program_unreadable,
    unknown_name,
)
from compiler_gym.files import read_regular
from compiler_gym_loop_tool.programs.drawn import draw
from compiler_gym_loop_tool.programs.layers import HELD_OUT, LAYERS
from compiler_gym_loop_tool.state.descriptions import EINSUM, KINDS, describe
from compiler_gym_loop_tool.state.reading import parse_program

__all__ = [
    "DescribedNests",
    "FileDataset",
    "GeneratedNests",
    "HeldOutMatmuls",
    "LayerDataset",
    "LoopToolCPUDataset",
    "LoopToolCUDADataset",
    "MatmulDataset",
    "make_benchmark",
    "make_datasets",
]

_LICENSE = "MIT"
_ADDITIONS = 1024 * 1024 * 8
_LARGEST_SEED = 2**32 - 1
_SIDES = range(64, 257, 16)
_MOST_BYTES = 1 << 20


def make_benchmark(text: str, name: str = "mine", *, target: str = "cpu") -> Benchmark:
    """Return the program in `text` as ``benchmark://user-v0/NAME``.

    `text` is a program in the language, or one line that describes a program, such as
    ``matmul/m=64,n=64,k=64`` or ``einsum/mk,kn->mn/m=64,n=64,k=64``. Raises
    `BenchmarkInitError` or `UnknownNameError`.

        >>> program = make_benchmark("sum/m=8,k=4", "rows")
        >>> program, program.contents.decode().splitlines()[0]
        (benchmark://user-v0/rows, 'dim m 8')
    """
    kind, _, sizes = text.strip().partition("/")
    if "\n" not in text.strip():
        text = describe(kind, sizes)
    if target != "cpu":
        text = f"target {target}\n{text}"
    parse_program(text)
    return Benchmark(BenchmarkUri("benchmark", "user-v0", name), text.encode())


class _Additions(Dataset):
    """``a + b`` over n elements, in three loops, as in CompilerGym 0.2.5; n is the name."""

    target: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(
            f"benchmark://loop_tool-{self.target}-v0",
            f"a + b over n elements ({self.target.upper()}), n up to 8 Mi, in three loops",
            _LICENSE,
        )

    @property
    def size(self) -> int:
        """Number of listed sizes: as in 0.2.5, those below 8 Mi; 8 Mi itself works too."""
        return _ADDITIONS - 1

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every size."""
        yield from (f"{self.name}/{n}" for n in range(1, _ADDITIONS))

    def benchmark_uri_at(self, index: int) -> str:
        """Return the address of the size ``index + 1``."""
        if not 0 <= index < self.size:
            raise UnknownNameError(f"{self.name} has no program number {index}")
        return f"{self.name}/{index + 1}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the addition of the number of elements in `uri`."""
        n = _number_in(uri, 1, _ADDITIONS, "a number of elements")
        text = f"target {self.target}\nsplits 3\n{describe('add', f'a={n}')}"
        return Benchmark(uri, text.encode())


class LoopToolCPUDataset(_Additions):
    """``benchmark://loop_tool-cpu-v0/1024``: an addition on the CPU."""

    target = "cpu"


class LoopToolCUDADataset(_Additions):
    """``benchmark://loop_tool-cuda-v0/1024``: an addition on a GPU."""

    target = "cuda"


class MatmulDataset(Dataset):
    """``benchmark://looptune-matmul-v0/64x80x96``: m, n and k from 64 to 256 by 16."""

    def __init__(self) -> None:
        super().__init__(
            "benchmark://looptune-matmul-v0",
            "LoopTune's matmuls: m, n, k from 64 to 256 by 16, without the 25 held out",
            _LICENSE,
            references={"Paper": "https://arxiv.org/abs/2309.01825"},
        )

    @property
    def size(self) -> int:
        """Number of programs."""
        return len(_SIDES) ** 3 - len(HELD_OUT)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield every address."""
        sizes = (f"{m}x{n}x{k}" for m in _SIDES for n in _SIDES for k in _SIDES)
        yield from (f"{self.name}/{size}" for size in sizes if size not in HELD_OUT)

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the matmul of the sizes in `uri`; the 25 held-out ones are another dataset."""
        name = uri.path.strip("/")
        if name in HELD_OUT:
            raise UnknownNameError(
                f"{name} is held out; use benchmark://looptune-matmul-test-v0/{name}"
            )
        parts = name.split("x")
        if len(parts) != 3 or any(part not in map(str, _SIDES) for part in parts):
            raise UnknownNameError(
                f"no program {name!r} in {self.name}; use MxNxK, each from 64 to 256 in steps of 16"
            )
        return _matmul_benchmark(uri, name)


class HeldOutMatmuls(Dataset):
    """``benchmark://looptune-matmul-test-v0/64x240x64``: the 25 matmuls of LoopTune's test set."""

    def __init__(self) -> None:
        super().__init__(
            "benchmark://looptune-matmul-test-v0",
            "The 25 matmuls of LoopTune's test set",
            _LICENSE,
            references={"Results": "https://github.com/loopstack/looptune"},
        )

    @property
    def size(self) -> int:
        """Number of programs."""
        return len(HELD_OUT)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield every address."""
        yield from (f"{self.name}/{name}" for name in HELD_OUT)

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the matmul of the sizes in `uri`."""
        name = uri.path.strip("/")
        if name not in HELD_OUT:
            raise UnknownNameError(unknown_name("program", name, HELD_OUT))
        return _matmul_benchmark(uri, name)


class LayerDataset(Dataset):
    """``benchmark://network-layers-v0/bert-base-query``: layers of ResNet-50, BERT and MLPs."""

    def __init__(self) -> None:
        super().__init__(
            "benchmark://network-layers-v0",
            "Layers of ResNet-50, BERT-base and multi-layer perceptrons, by name",
            _LICENSE,
        )

    @property
    def size(self) -> int:
        """Number of programs."""
        return len(LAYERS)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield every address."""
        yield from (f"{self.name}/{name}" for name in LAYERS)

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the layer named by `uri`."""
        name = uri.path.strip("/")
        if name not in LAYERS:
            raise UnknownNameError(unknown_name("layer", name, LAYERS))
        return Benchmark(uri, describe(*LAYERS[name]).encode())


class GeneratedNests(Dataset):
    """``generator://loop_nests-v0/7``: a random program for every seed."""

    def __init__(self) -> None:
        super().__init__("generator://loop_nests-v0", "Random programs by seed", _LICENSE)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every seed, from 0."""
        yield from (f"{self.name}/{seed}" for seed in range(_LARGEST_SEED))

    def benchmark_uri_at(self, index: int) -> str:
        """Return the address of the seed `index`."""
        if not 0 <= index < _LARGEST_SEED:
            raise UnknownNameError(f"{self.name} has no program number {index}")
        return f"{self.name}/{index}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program of the seed in `uri`."""
        return Benchmark(uri, draw(_number_in(uri, 0, _LARGEST_SEED - 1, "a seed")).encode())


class DescribedNests(Dataset):
    """``loop_tool://matmul/m=128,n=128,k=128``: any program that fits in one line.

    The address gives a kind and its sizes, with defaults for missing sizes.
    ``loop_tool://einsum/mk,kn->mn/m=8,n=8,k=8`` is an einsum string and its sizes.
    """

    def __init__(self) -> None:
        super().__init__("loop_tool://", "Any program described in one line", _LICENSE)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield an address of each kind, with its default sizes."""
        yield from (
            f"loop_tool://{kind}/{','.join(f'{d}={s}' for d, s in row.sizes.items())}"
            for kind, row in KINDS.items()
        )

    @property
    def size(self) -> int:
        """Return 0: the number of programs is unlimited."""
        return 0

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program described by `uri`."""
        if not uri.dataset:
            raise UnknownNameError(
                f"{uri} has no kind; use loop_tool://KIND/SIZES with one of {', '.join(KINDS)}, "
                f"{EINSUM}"
            )
        return Benchmark(uri, describe(uri.dataset, uri.path.strip("/")).encode())


class FileDataset(Dataset):
    """``file:///path``: a program in a file, in the language."""

    def __init__(self) -> None:
        super().__init__("file://", "A program in a file: .nest", "the file's own", hidden=True)

    def benchmark_uris(self) -> Iterator[str]:
        """Yield nothing: files are not listed."""
        return iter(())

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program in the file named by `uri`."""
        path = Path(unquote(uri.path, errors="surrogateescape"))
        try:
            return Benchmark(uri, read_regular(path, most=_MOST_BYTES))
        except OSError as error:
            if error.errno == errno.EFBIG:
                raise BenchmarkInitError(f"{path}: not a program: {error.strerror}") from error
            raise program_unreadable(path, error) from error


def make_datasets() -> list[Dataset]:
    """Return every dataset."""
    return [
        LoopToolCPUDataset(),
        LoopToolCUDADataset(),
        MatmulDataset(),
        HeldOutMatmuls(),
        LayerDataset(),
        GeneratedNests(),
        DescribedNests(),
        FileDataset(),
    ]


def _matmul_benchmark(uri: BenchmarkUri, name: str) -> Benchmark:
    m, n, k = name.split("x")
    return Benchmark(uri, describe("matmul", f"m={m},n={n},k={k}").encode())


def _number_in(uri: BenchmarkUri, low: int, high: int, noun: str) -> int:
    text = uri.path.strip("/")
    plain = text.isascii() and text.isdecimal() and len(text) < 20 and text == str(int(text))
    if not plain or not low <= int(text) <= high:
        raise UnknownNameError(
            f"no program {text!r} in {uri.dataset_name}; use {noun} from {low} to {high}"
        )
    return int(text)
