# SPDX-License-Identifier: MIT
"""The programs that LLVM can start from: bundled, generated, published, imported, and any file.

The classes keep the names that CompilerGym 0.2.5 gives them.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

from compiler_gym.builds import SOURCE_LANGUAGES
from compiler_gym.datasets import (
    Benchmark,
    BenchmarkUri,
    BundledPrograms,
    Dataset,
    SampleDataset,
    find_corpora,
)
from compiler_gym.datasets.benchmark import ValidationCallback
from compiler_gym.datasets.corpus_store import PackageTest
from compiler_gym.envs.llvm.programs.collections.generators import (
    CsmithBenchmark,
    CsmithDataset,
    LlvmStressDataset,
)
from compiler_gym.envs.llvm.programs.collections.published import (
    PUBLISHED,
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
from compiler_gym.envs.llvm.programs.collections.stored import read_stored
from compiler_gym.envs.llvm.programs.source import read_program
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.files import read_regular
from compiler_gym.files.paths import site_data_path
from compiler_gym.lazy import part, parts

__all__ = [
    "AnghaBenchDataset",
    "BlasDataset",
    "CBenchDataset",
    "CHStoneDataset",
    "CLgenDataset",
    "CsmithBenchmark",
    "CsmithDataset",
    "FileDataset",
    "GitHubDataset",
    "JotaiBenchDataset",
    "LinuxDataset",
    "LlvmStressDataset",
    "MibenchDataset",
    "NPBDataset",
    "OpenCVDataset",
    "POJ104Dataset",
    "TensorFlowDataset",
    "get_llvm_datasets",
    "make_datasets",
]
__path__: list[str] = []  # lets `compat` find the old paths below this module


class FileDataset(Dataset):
    """``file:///path``: a program in a file of bitcode, IR, C or C++."""

    def __init__(self) -> None:
        super().__init__(
            "file://", "A program in a file: .bc, .ll, .c, .cc, .cpp", "the file's own", hidden=True
        )

    def benchmark_uris(self) -> Iterator[str]:
        """Yield nothing: files are not listed."""
        return iter(())

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program in the file that `uri` names."""
        if uri.dataset not in ("", "localhost") or len(uri.path) < 2:
            path = Path(f"{uri.dataset}{uri.path}")
            example = path.absolute().as_uri() if path.parts else "file:///tmp/main.c"
            raise BenchmarkInitError(
                f"{uri} does not have an absolute path; write the address as {example}"
            )
        path = Path(uri.path)
        benchmark = Benchmark.from_file_contents(uri, read_program(path))
        if path.suffix in SOURCE_LANGUAGES:
            benchmark.add_source((path.name, read_regular(path)))
        return benchmark


def make_datasets(site_data_base: Path | None = None) -> list[Dataset]:
    """Return every dataset of LLVM programs, installed or not, and every imported corpus."""
    base = site_data_path() if site_data_base is None else Path(site_data_base)
    bundled = [BundledPrograms(), SampleDataset(reader=read_stored), FileDataset()]
    generated = [CsmithDataset(base), LlvmStressDataset(base)]
    datasets: list[Dataset] = [*bundled, *generated, *(make(base) for make in PUBLISHED)]
    names = {dataset.name for dataset in datasets}
    tester = _run_package_tests if "llvm" in parts("package_tests") else None
    for corpus in find_corpora(base, reader=read_stored, tester=tester):
        if corpus.name not in names:
            datasets.append(corpus)
        else:
            warnings.warn(
                f"{corpus.path} is ignored: another dataset is already called {corpus.name}; "
                "import it under a different name",
                stacklevel=2,
            )
    return datasets


def get_llvm_datasets(site_data_base: Path | None = None) -> Iterator[Dataset]:
    """Yield every dataset, as CompilerGym 0.2.5 does."""
    yield from make_datasets(site_data_base)


def _run_package_tests(folder: Path, test: PackageTest) -> ValidationCallback:
    """Return the check that runs a package's own tests; a tool provides it."""
    return part("package_tests", "llvm")(folder, test)
