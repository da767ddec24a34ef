# SPDX-License-Identifier: MIT
"""The programs that GCC can start from: bundled, generated, published, and any file.

Every program is source; nothing is compiled here. The classes keep the names that
CompilerGym 0.2.5 gives them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from compiler_gym.datasets import (
    Benchmark,
    BenchmarkUri,
    BundledPrograms,
    CsmithBenchmark,
    CsmithPrograms,
    Dataset,
    PublishedDataset,
    published_archives,
)
from compiler_gym.files import site_data_path
from compiler_gym_gcc.programs.own import make_benchmark_from
from compiler_gym_gcc.programs.source import SourceProgram, collect, headers_for, pack
from compiler_gym_gcc.toolchain.gcc import DEFAULT_GCC, Gcc

__all__ = [
    "AnghaBenchDataset",
    "CBenchDataset",
    "CHStoneDataset",
    "CsmithBenchmark",
    "CsmithDataset",
    "FileDataset",
    "PublishedSource",
    "get_gcc_datasets",
    "make_datasets",
]
__path__: list[str] = []  # lets `compat` find the old paths below this module

_STANDARD = ("-std=c11",)
"""The language standard of the bundled programs."""

_OLD_C = ("-fpermissive", "-std=gnu99")
"""Flags with which GCC 14 and newer accept older C; other versions ignore them."""


class CBenchDataset(BundledPrograms):
    """``benchmark://cbench-v1``: the bundled programs, as C source."""

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:  # type: ignore[override]  # source, not bitcode
        """Return the program at `uri`."""
        bundled = super().benchmark_from_parsed_uri(uri)
        return bundled.with_contents(pack(collect(bundled.units, _STANDARD)))


class FileDataset(Dataset):
    """``file:///path``: a program in a C or C++ file."""

    def __init__(self) -> None:
        super().__init__(
            "file://", "A program in a file: .c, .cc, .cpp, .i", "the file's own", hidden=True
        )

    def benchmark_uris(self) -> Iterator[str]:
        """Yield nothing: files are not listed."""
        return iter(())

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program in the file that `uri` names."""
        return make_benchmark_from(
            collect([Path(unquote(uri.path, errors="surrogateescape"))]), uri
        )


class CsmithDataset(CsmithPrograms):
    """``generator://csmith-v0``: random C programs without undefined behaviour.

    Each prints a checksum, so a build can be compared with the -O0 build. Some do not terminate: a
    run is limited to 10 seconds.
    """

    def __init__(
        self,
        gcc_bin: str | Path = DEFAULT_GCC,
        site_data_base: str | Path | None = None,
        sort_order: int = 0,
        csmith_bin: str | Path | None = None,
        csmith_includes: str | Path | None = None,
    ) -> None:
        super().__init__(site_data_base, sort_order, csmith_bin, csmith_includes)
        self.gcc_bin = str(gcc_bin)
        """The compiler that the programs are for."""

    @property
    def gcc(self) -> Gcc:
        """The compiler that the programs are for."""
        return Gcc(self.gcc_bin)

    def make_contents(self, source: bytes) -> bytes:
        """Return a source from csmith, packed with the csmith headers that it includes."""
        headers = headers_for(source, self.csmith_includes)
        files = {"source.c": source, **{f"csmith/{name}": h for name, h in headers.items()}}
        return pack(SourceProgram(("source.c",), files, ("-Icsmith",)))


class PublishedSource(PublishedDataset):
    """An archive of sources, with one program in each listed file."""

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`."""
        self.install()
        return make_benchmark_from(collect([self.find_path(uri)], _OLD_C), uri)


class AnghaBenchDataset(PublishedSource):
    """``benchmark://anghabench-v1``: C functions mined from GitHub."""

    archive = published_archives.ANGHABENCH


class CHStoneDataset(PublishedSource):
    """``benchmark://chstone-v0``: programs for high-level synthesis."""

    archive = published_archives.CHSTONE

    def __init__(
        self,
        gcc_bin: str | Path = DEFAULT_GCC,
        site_data_base: str | Path | None = None,
        sort_order: int = 0,
        **dataset_args: Any,
    ) -> None:
        super().__init__(site_data_base, sort_order, **dataset_args)
        self.gcc_bin = str(gcc_bin)
        """The compiler that the programs are for."""

    @property
    def gcc(self) -> Gcc:
        """The compiler that the programs are for."""
        return Gcc(self.gcc_bin)


def make_datasets(
    gcc_bin: str | Path = DEFAULT_GCC, site_data_base: Path | None = None
) -> list[Dataset]:
    """Return every dataset of GCC programs, installed or not."""
    base = site_data_path() if site_data_base is None else Path(site_data_base)
    return [
        CBenchDataset(),
        FileDataset(),
        CsmithDataset(gcc_bin, base),
        CHStoneDataset(gcc_bin, base),
        AnghaBenchDataset(base),
    ]


def get_gcc_datasets(
    gcc_bin: str | Path = DEFAULT_GCC, site_data_base: Path | None = None
) -> Iterator[Dataset]:
    """Yield every dataset, as CompilerGym 0.2.5 does."""
    yield from make_datasets(gcc_bin, site_data_base)
