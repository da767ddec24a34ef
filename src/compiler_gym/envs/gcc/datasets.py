# SPDX-License-Identifier: MIT
"""Which programs GCC can start from: bundled, generated, published, and any file.

Every program is source; nothing is compiled here. The classes keep the names that
CompilerGym 0.2.5 gives them.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from compiler_gym.datasets import (
    Benchmark,
    BenchmarkUri,
    BenchmarkWithSource,
    BundledPrograms,
    Dataset,
    RunCase,
    RunSpec,
    SeededDataset,
)
from compiler_gym.envs.gcc._published import AnghaBenchDataset, CHStoneDataset
from compiler_gym.envs.gcc.machine.gcc import DEFAULT_GCC, Gcc
from compiler_gym.envs.gcc.programs.own import benchmark_of
from compiler_gym.envs.gcc.programs.source import Program, collect, headers_for, pack
from compiler_gym.paths import site_data_path

__all__ = [
    "AnghaBenchDataset",
    "CBenchDataset",
    "CHStoneDataset",
    "CsmithBenchmark",
    "CsmithDataset",
    "FileDataset",
    "get_gcc_datasets",
    "make_datasets",
]

_RUN_SECONDS = 10.0
_STANDARD = ("-std=c11",)
"""The language of the bundled programs."""


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
        return benchmark_of(collect([Path(unquote(uri.path))]), uri)


class CsmithBenchmark(BenchmarkWithSource):
    """A program that csmith wrote; it prints a checksum of all that it computed."""


class CsmithDataset(SeededDataset):
    """``generator://csmith-v0``: random C programs without undefined behaviour.

    Each prints a checksum, so a build can be compared with the -O0 one. Some do not
    end: a run may take 10 seconds.
    """

    tool = "csmith"
    install_command = "apt install csmith libcsmith-dev"
    _suffix = ".c"

    def __init__(
        self,
        gcc_bin: str | Path = DEFAULT_GCC,
        site_data_base: str | Path | None = None,
        sort_order: int = 0,
        csmith_bin: str | Path | None = None,
        csmith_includes: str | Path | None = None,
    ) -> None:
        super().__init__(
            "generator://csmith-v0",
            "Random conformant C99 programs",
            "BSD",
            references={
                "Paper": "http://web.cse.ohio-state.edu/~rountev.1/5343/pdf/pldi11.pdf",
                "Homepage": "https://embed.cs.utah.edu/csmith/",
            },
            site_data_base=site_data_base,
            sort_order=sort_order,
            benchmark_class=CsmithBenchmark,
            validatable="Yes",
        )
        self.gcc_bin = str(gcc_bin)
        """The compiler that the programs are for."""
        self.csmith_bin = str(csmith_bin or "csmith")
        """The generator: a path, or a name on PATH."""
        self.csmith_includes = Path(csmith_includes or "/usr/include/csmith")
        """The directory of ``csmith.h``."""

    @property
    def gcc(self) -> Gcc:
        """The compiler that the programs are for."""
        return Gcc(self.gcc_bin)

    def _find(self) -> str | None:
        has_headers = (self.csmith_includes / "csmith.h").is_file()
        return shutil.which(self.csmith_bin) if has_headers else None

    def _arguments(self, seed: int) -> list[str]:
        return ["--seed", str(seed)]

    def _benchmark(self, seed: int, source: bytes) -> Benchmark:
        headers = headers_for(source, self.csmith_includes)
        files = {"source.c": source, **{f"csmith/{name}": h for name, h in headers.items()}}
        return CsmithBenchmark.create(
            f"{self.name}/{seed}",
            pack(Program(("source.c",), files, ("-Icsmith",))),
            "source.c",
            source,
            run=RunSpec((RunCase(),), time_limit=_RUN_SECONDS),
        )


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
