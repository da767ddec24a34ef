# SPDX-License-Identifier: MIT
"""Generated programs: one for every seed, from csmith or llvm-stress.

With the same version of the generator, a seed always gives the same program. Generated sources are
cached; nothing is downloaded, and no program is run here.
"""

import shutil
from pathlib import Path

from compiler_gym.datasets import Benchmark, CsmithBenchmark, CsmithPrograms, SeededDataset
from compiler_gym.envs.llvm.programs.kept import make_cached
from compiler_gym.envs.llvm.programs.source import ClangInvocation
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.tools import name_package, tool_name
from compiler_gym.files import tool_identity

__all__ = ["CsmithBenchmark", "CsmithDataset", "LlvmStressDataset"]


class CsmithDataset(CsmithPrograms):
    """``generator://csmith-v0``: random C programs without undefined behaviour.

    A seed gives the same program as in CompilerGym 0.2.5. It prints a checksum, so an optimised
    build can be compared with the original. Some programs do not terminate: a run is limited to
    10 seconds.
    """

    @property
    def needs(self) -> str:
        """The requirements: the command that installs the generator, and clang."""
        return f"{self.install_command}; clang"

    def make_contents(self, source: bytes) -> bytes:
        """Return the bitcode of a source that csmith generated."""
        flags = ("-I", str(self.csmith_includes), "-x", "c", "-")
        made_from = ("csmith", tool_identity(clang_command()[0]), *flags, source)
        return make_cached(made_from, lambda: ClangInvocation(flags, timeout=300).run(source))


class LlvmStressDataset(SeededDataset):
    """``generator://llvm-stress-v0``: random IR, for testing the robustness of a compiler.

    It does nothing useful and cannot be run, so results on it do not apply to real programs.
    Different versions of LLVM generate different programs for the same seed.
    """

    tool = tool_name("llvm-stress")
    install_command = f"apt install {name_package('llvm-stress')}"
    _suffix = ".ll"

    def __init__(
        self,
        site_data_base: str | Path | None = None,
        sort_order: int = 0,
        llvm_stress_bin: str | Path | None = None,
    ) -> None:
        super().__init__(
            "generator://llvm-stress-v0",
            "Random IR for robustness tests only; it cannot be run",
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
