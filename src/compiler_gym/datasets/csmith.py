# SPDX-License-Identifier: MIT
"""``generator://csmith-v0``: random C programs without undefined behaviour.

The program of a seed is the one of CompilerGym 0.2.5. What a compiler reads of it is
the compiler's to say: a subclass turns the source into that.
"""

import shutil
from abc import abstractmethod
from pathlib import Path

from compiler_gym.datasets.benchmark import Benchmark, BenchmarkWithSource
from compiler_gym.datasets.running.run_spec import RunCase, RunSpec
from compiler_gym.datasets.seeded import SeededDataset

__all__ = ["CsmithBenchmark", "CsmithPrograms"]

_RUN_SECONDS = 10.0


class CsmithBenchmark(BenchmarkWithSource):
    """A program that csmith wrote; it prints a checksum of all that it computed."""


class CsmithPrograms(SeededDataset):
    """The programs of csmith, one for every seed.

    Each prints a checksum, so a build can be compared with the unoptimised one. Some
    do not end: a run may take 10 seconds.
    """

    tool = "csmith"
    install_command = "apt install csmith libcsmith-dev"
    _suffix = ".c"

    def __init__(
        self,
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
        self.csmith_bin = str(csmith_bin or "csmith")
        """The generator: a path, or a name on PATH."""
        self.csmith_includes = Path(csmith_includes or "/usr/include/csmith")
        """The directory of ``csmith.h``."""

    @abstractmethod
    def make_contents(self, source: bytes) -> bytes:
        """Return what the compiler reads of a program that csmith wrote."""

    def _find(self) -> str | None:
        has_headers = (self.csmith_includes / "csmith.h").is_file()
        return shutil.which(self.csmith_bin) if has_headers else None

    def _arguments(self, seed: int) -> list[str]:
        return ["--seed", str(seed)]

    def _benchmark(self, seed: int, source: bytes) -> Benchmark:
        return CsmithBenchmark.create(
            f"{self.name}/{seed}",
            self.make_contents(source),
            "source.c",
            source,
            run=RunSpec((RunCase(),), time_limit=_RUN_SECONDS),
        )
