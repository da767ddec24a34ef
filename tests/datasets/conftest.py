# SPDX-License-Identifier: MIT
"""A local web server, archives to serve, and datasets that cost nothing."""

import io
import tarfile
from collections.abc import Iterator
from typing import Any, cast

import pytest

from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset
from compiler_gym.errors import UnknownNameError
from tests.datasets.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server().running() as running:
        yield running


def make_tar(
    files: dict[str, bytes], compression: str = "bz2", extra: tuple[tarfile.TarInfo, ...] = ()
) -> bytes:
    """Return a tar archive of `files`, then of the `extra` entries as they are."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=cast(Any, f"w:{compression}")) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for info in extra:
            tar.addfile(info, io.BytesIO(b"\0" * info.size))
    return buffer.getvalue()


class Words(Dataset):
    """A dataset of words that counts how often it was asked."""

    def __init__(self, name: str, words: list[str], **kwargs: Any) -> None:
        super().__init__(name, "Words", "MIT", **kwargs)
        self.words = words
        self.read: list[str] = []

    @property
    def size(self) -> int:
        return len(self.words)

    def benchmark_uris(self) -> Iterator[str]:
        yield from (f"{self.name}/{word}" for word in self.words)

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        word = uri.path[1:]
        if word not in self.words:
            raise UnknownNameError(f"no program {uri}")
        self.read.append(word)
        return Benchmark(uri, word.encode())


class Numbers(Dataset):
    """A dataset without end."""

    def benchmark_uris(self) -> Iterator[str]:
        number = 0
        while True:
            yield self.benchmark_uri_at(number)
            number += 1

    def benchmark_uri_at(self, index: int) -> str:
        return f"{self.name}/{index}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        return Benchmark(uri, uri.path.encode())
