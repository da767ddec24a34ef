# SPDX-License-Identifier: MIT
"""Programs without end: one for every seed, made by csmith or llvm-stress.

A seed always gives the same program with the same version of its generator. What was
generated is kept as source; nothing is fetched, and no program is run here.
"""

import shutil
from pathlib import Path

from compiler_gym.datasets import (
    Benchmark,
    BenchmarkWithSource,
    RunCase,
    RunSpec,
    SeededDataset,
)
from compiler_gym.envs.llvm.machine.clang import clang_command
from compiler_gym.envs.llvm.programs.kept import kept
from compiler_gym.envs.llvm.programs.source import ClangInvocation
from compiler_gym.files import tool_identity

__all__ = ["CsmithBenchmark", "CsmithDataset", "LlvmStressDataset"]

_RUN_SECONDS = 10.0


class CsmithBenchmark(BenchmarkWithSource):
    """A program that csmith wrote; it prints a checksum of all that it computed."""


class CsmithDataset(SeededDataset):
    """``generator://csmith-v0``: random C programs without undefined behaviour.

    The program of a seed is the one of CompilerGym 0.2.5. It prints a checksum, so an
    optimised build can be compared with the unchanged one. Some programs do not end:
    a run may take 10 seconds.
    """

    tool = "csmith"
    install_command = "apt install csmith libcsmith-dev"
    _suffix = ".c"

    @property
    def needs(self) -> str:
        """The command that installs the generator, and clang."""
        return f"{self.install_command}; clang"

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

    def _find(self) -> str | None:
        has_headers = (self.csmith_includes / "csmith.h").is_file()
        return shutil.which(self.csmith_bin) if has_headers else None

    def _arguments(self, seed: int) -> list[str]:
        return ["--seed", str(seed)]

    def _benchmark(self, seed: int, source: bytes) -> Benchmark:
        flags = ("-I", str(self.csmith_includes), "-x", "c", "-")
        made_from = ("csmith", tool_identity(clang_command()[0]), *flags, source)
        contents = kept(made_from, lambda: ClangInvocation(flags, timeout=300).run(source))
        return CsmithBenchmark.create(
            f"{self.name}/{seed}",
            contents,
            "source.c",
            source,
            run=RunSpec((RunCase(),), time_limit=_RUN_SECONDS),
        )


class LlvmStressDataset(SeededDataset):
    """``generator://llvm-stress-v0``: random IR, to find out what a compiler survives.

    It does nothing that a program would do and cannot be run: it is for robustness only,
    and numbers on it say nothing about programs. Another version of LLVM writes
    another program for a seed.
    """

    tool = "llvm-stress-22"
    install_command = "apt install llvm-22"
    _suffix = ".ll"

    def __init__(
        self,
        site_data_base: str | Path | None = None,
        sort_order: int = 0,
        llvm_stress_bin: str | Path | None = None,
    ) -> None:
        super().__init__(
            "generator://llvm-stress-v0",
            "Random IR, for robustness only: it is no program",
            "Apache-2.0 WITH LLVM-exception",
            references={"Documentation": "https://llvm.org/docs/CommandGuide/llvm-stress.html"},
            site_data_base=site_data_base,
            sort_order=sort_order,
        )
        self.llvm_stress_bin = str(llvm_stress_bin or self.tool)
        """The generator: a path, or a name on PATH."""

    def _find(self) -> str | None:
        return shutil.which(self.llvm_stress_bin)

    def _arguments(self, seed: int) -> list[str]:
        return [f"--seed={seed}", "-o", "-"]

    def _benchmark(self, seed: int, source: bytes) -> Benchmark:
        uri = f"{self.name}/{seed}"
        return Benchmark.from_file_contents(uri, source, sources=[("source.ll", source)])
