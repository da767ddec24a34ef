# SPDX-License-Identifier: MIT
"""The archives that CompilerGym 0.2.5 published, as datasets.

Archives of bitcode were made with LLVM 10, so they have new names (``npb-llvm10-v0``); `archives`
describes them. Archives of source keep their names and are compiled with today's clang. This
library contains none of them: an archive is downloaded when it is first used.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.datasets import (
    Benchmark,
    BenchmarkUri,
    BenchmarkWithSource,
    PublishedDataset,
    published_archives,
)
from compiler_gym.envs.llvm.programs.collections import archives
from compiler_gym.envs.llvm.programs.kept import make_cached
from compiler_gym.envs.llvm.programs.source import ClangInvocation
from compiler_gym.envs.llvm.toolchain.clang import OLD_C, clang_command
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.files import tool_identity

__all__ = [
    "OPENCL",
    "PUBLISHED",
    "AnghaBenchDataset",
    "BlasDataset",
    "CBenchDataset",
    "CHStoneDataset",
    "CLgenDataset",
    "GitHubDataset",
    "JotaiBenchDataset",
    "LinuxDataset",
    "MibenchDataset",
    "NPBDataset",
    "OpenCVDataset",
    "POJ104Dataset",
    "PublishedBitcode",
    "PublishedSource",
    "TensorFlowDataset",
]

OPENCL = (
    *("-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header"),
    *("-target", "x86_64-unknown-linux-gnu", "-ferror-limit=1"),
)
"""Flags that compile OpenCL for x86-64 with clang's own headers."""

_COMPILE_SECONDS = 300.0


class PublishedBitcode(PublishedDataset):
    """An archive of bitcode from LLVM 10, which is upgraded when it is read.

    The upgrade leaves many pointer casts that no longer do anything. ``?bitcasts=strip`` at the end
    of an address removes them, ``?bitcasts=keep`` keeps them; without either, `strip_bitcasts`
    decides.
    """

    uri_keys: ClassVar[tuple[str, ...]] = ("bitcasts",)

    def __init__(
        self,
        site_data_base: str | Path | None = None,
        sort_order: int = 0,
        strip_bitcasts: bool = False,
        **dataset_args: Any,
    ) -> None:
        super().__init__(site_data_base, sort_order, **dataset_args)
        self.strip_bitcasts = strip_bitcasts
        """True if casts that do nothing are removed unless the address says otherwise."""

    def benchmark(self, uri: str | BenchmarkUri) -> Benchmark:
        """Return the program at `uri`; its query can contain ``bitcasts``."""
        program = super().benchmark(uri)
        default = "strip" if self.strip_bitcasts else "keep"
        choice = program.parameters.get("bitcasts", default)
        if choice not in ("keep", "strip"):
            raise BenchmarkInitError(
                f"bitcasts must be keep or strip in {program} (got {choice!r})"
            )
        return _strip(program) if choice == "strip" else program


class PublishedSource(PublishedDataset):
    """An archive of sources, each compiled on first use and cached."""

    flags: ClassVar[tuple[str, ...]] = ("-ferror-limit=1", *OLD_C)
    """The arguments for clang."""

    @property
    def needs(self) -> str:
        """The host of the archive, and clang."""
        return f"{super().needs}; clang"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program at `uri`; raise `BenchmarkInitError` if it does not compile."""
        self.install()
        path = self.find_path(uri)
        source = path.read_bytes()
        clang = tool_identity(clang_command()[0])
        made_from = (self.tar_sha256 or "", uri.path, clang, *self.flags, source)
        contents = make_cached(made_from, lambda: self._compile(path, source))
        return BenchmarkWithSource.create(uri, contents, path.name, source, run=self.archive.run)

    def compile_all(self) -> int:
        """Compile every program now, several in parallel; return the number that compile."""
        with ThreadPoolExecutor() as executor:
            return sum(executor.map(self._compiles, self.benchmark_uris()))

    def _compiles(self, uri: str) -> bool:
        try:
            self.benchmark(uri)
        except BenchmarkInitError:
            return False
        return True

    def _compile(self, path: Path, source: bytes) -> bytes:
        invocation = ClangInvocation.from_c_file(path, self.flags, timeout=_COMPILE_SECONDS)
        return replace(invocation, is_own=False).run()


class AnghaBenchDataset(PublishedSource):
    """``benchmark://anghabench-v1``: C functions mined from GitHub."""

    archive = published_archives.ANGHABENCH


class BlasDataset(PublishedBitcode):
    """``benchmark://blas-llvm10-v0``: kernels of linear algebra."""

    archive = archives.BLAS


class CBenchDataset(PublishedBitcode):
    """``benchmark://cbench-llvm10-v1``: the original cBench; the bundled one is ``cbench-v1``."""

    archive = archives.CBENCH


class CHStoneDataset(PublishedSource):
    """``benchmark://chstone-v0``: programs for high-level synthesis."""

    archive = published_archives.CHSTONE


class CLgenDataset(PublishedSource):
    """``benchmark://clgen-v0``: OpenCL kernels that a neural network wrote.

    They are compiled for x86-64 with clang's headers. CompilerGym 0.2.5 compiled them for NVPTX
    with its own headers.
    """

    archive = published_archives.CLGEN
    flags = OPENCL


class GitHubDataset(PublishedBitcode):
    """``benchmark://github-llvm10-v0``: C and C++ objects from GitHub, not runnable."""

    archive = archives.GITHUB


class JotaiBenchDataset(PublishedSource):
    """``benchmark://jotaibench-v0``: C functions with a main that calls them."""

    archive = published_archives.JOTAIBENCH


class LinuxDataset(PublishedBitcode):
    """``benchmark://linux-llvm10-v0``: objects of the Linux kernel, not runnable."""

    archive = archives.LINUX


class MibenchDataset(PublishedBitcode):
    """``benchmark://mibench-llvm10-v1``: programs of embedded systems."""

    archive = archives.MIBENCH


class NPBDataset(PublishedBitcode):
    """``benchmark://npb-llvm10-v0``: NASA's parallel benchmarks."""

    archive = archives.NPB


class OpenCVDataset(PublishedBitcode):
    """``benchmark://opencv-llvm10-v0``: objects of the OpenCV library, not runnable."""

    archive = archives.OPENCV


class POJ104Dataset(PublishedSource):
    """``benchmark://poj104-v1``: students' solutions to 104 programming problems."""

    archive = published_archives.POJ104
    # gets() was removed from C++14.
    flags = ("-x", "c++", "-std=c++11", "-ferror-limit=1", "-")

    @staticmethod
    def preprocess_poj104_source(src: str) -> str:
        """Return `src` as a complete C++ program: with headers and a main that returns int.

        >>> print(POJ104Dataset.preprocess_poj104_source("void main(){}").splitlines()[-1])
        int main(){}
        """
        return _POJ104_HEAD + _MAIN.sub("int main", src)

    @classmethod
    def as_program(cls, source: bytes) -> bytes:
        """Return the result of `preprocess_poj104_source` for a file in any encoding."""
        # The files use several encodings; latin-1 preserves every byte.
        return cls.preprocess_poj104_source(source.decode("latin-1")).encode("latin-1")

    def _compile(self, path: Path, source: bytes) -> bytes:
        invocation = ClangInvocation(self.flags, timeout=_COMPILE_SECONDS, is_own=False)
        return invocation.run(self.as_program(source))


class TensorFlowDataset(PublishedBitcode):
    """``benchmark://tensorflow-llvm10-v0``: objects of TensorFlow, not runnable."""

    archive = archives.TENSORFLOW


PUBLISHED: tuple[type[PublishedDataset], ...] = (
    AnghaBenchDataset,
    BlasDataset,
    CBenchDataset,
    CHStoneDataset,
    CLgenDataset,
    GitHubDataset,
    JotaiBenchDataset,
    LinuxDataset,
    MibenchDataset,
    NPBDataset,
    OpenCVDataset,
    POJ104Dataset,
    TensorFlowDataset,
)
"""Every published archive."""

_MAIN = re.compile(r"^(?:[ \t]*void\s+)?main(?=\s*\()", re.MULTILINE)
# The judge included all headers, and its problem statements used these bounds.
_POJ104_HEAD = """#include <bits/stdc++.h>
using namespace std;
#define LEN 128
#define MAX_LENGTH 1024
#define MAX 1024
"""


def _strip(program: Benchmark) -> Benchmark:
    def strip() -> bytes:
        return run_engine("strip", [program.contents])[0]

    contents = make_cached(("strip_noop_bitcasts", program.contents), strip)
    return Benchmark.from_file_contents(program.uri, contents, run=program.run)
