# SPDX-License-Identifier: MIT
"""Programs to learn on: addresses, benchmarks, datasets and the catalogue over them.

`uri` addresses a program, `benchmark` holds one, `dataset` is the contract of a set of them and
`catalogue` joins several sets. Sets are kept as files (`files`, `tar`) or in a database (`corpus`,
`corpus_store`), come with this library (`bundled`, `sample`), are published by others (`published`,
by the facts in `published_archives`), or are written by a tool (`seeded`, `csmith`). `splits` keep
apart what is learnt from and what is judged by. `fetching` gets programs here, and `running` runs
them. No compiler is known here: a program is bytes.
"""

from typing import TYPE_CHECKING

from compiler_gym.datasets import published_archives
from compiler_gym.datasets.benchmark import (
    Benchmark,
    BenchmarkSource,
    BenchmarkWithSource,
    RunsPrograms,
    ValidationCallback,
    collect_findings,
    runs_as_expected,
)
from compiler_gym.datasets.bundled import (
    BundledPrograms,
    find_bundled_folder,
    find_run,
    make_run_spec,
)
from compiler_gym.datasets.catalogue import Datasets
from compiler_gym.datasets.corpus import BUILT_LINK, CorpusDataset, find_corpora
from compiler_gym.datasets.corpus_store import (
    PROGRAM_KINDS,
    CorpusProgram,
    PackageFacts,
    PackageTest,
    Place,
    ProgramFacts,
)
from compiler_gym.datasets.csmith import CsmithBenchmark, CsmithPrograms
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.fetching.download import DownloadOptions, download
from compiler_gym.datasets.fetching.export import export_folder, export_parquet
from compiler_gym.datasets.fetching.importers import ImportReport, import_corpus
from compiler_gym.datasets.files import FilesDataset
from compiler_gym.datasets.published import PublishedDataset
from compiler_gym.datasets.published_archives import PUBLISHED_AT, Archive
from compiler_gym.datasets.running.contained import RunLimits, RunReport, run_contained
from compiler_gym.datasets.running.measured import (
    MeasuredRuns,
    counter_identity,
    counting_command,
)
from compiler_gym.datasets.running.packed_run import pack_run, unpack_run
from compiler_gym.datasets.running.run_spec import ExpectedOutput, GeneratedCases, RunCase, RunSpec
from compiler_gym.datasets.sample import SampleDataset
from compiler_gym.datasets.seeded import SeededDataset
from compiler_gym.datasets.splits import (
    NO_SPLIT,
    SPLITS,
    FunctionShape,
    SplitMember,
    assign_splits,
    cluster_digest,
    split_of_package,
)
from compiler_gym.datasets.tar import TarDataset, TarDatasetWithManifest
from compiler_gym.datasets.uri import BenchmarkUri, path_and_query, quote_path
from compiler_gym.errors import BenchmarkInitError, DatasetInitError
from compiler_gym.lazy import door
from compiler_gym.options import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    # Names of 0.2.5, which `compat` holds.
    activate: Callable[..., bool]
    deactivate: Callable[..., bool]
    delete: Callable[..., bool]
    require: Callable[..., bool]

__all__ = [
    "BUILT_LINK",
    "NO_SPLIT",
    "PROGRAM_KINDS",
    "PUBLISHED_AT",
    "SPLITS",
    "Archive",
    "Benchmark",
    "BenchmarkInitError",
    "BenchmarkSource",
    "BenchmarkUri",
    "BenchmarkWithSource",
    "BundledPrograms",
    "CorpusDataset",
    "CorpusProgram",
    "CsmithBenchmark",
    "CsmithPrograms",
    "Dataset",
    "DatasetInitError",
    "Datasets",
    "DownloadOptions",
    "ExpectedOutput",
    "FilesDataset",
    "FunctionShape",
    "GeneratedCases",
    "ImportReport",
    "MeasuredRuns",
    "PackageFacts",
    "PackageTest",
    "Place",
    "ProgramFacts",
    "PublishedDataset",
    "ReadOptions",
    "RunCase",
    "RunLimits",
    "RunReport",
    "RunSpec",
    "RunsPrograms",
    "SampleDataset",
    "SeededDataset",
    "SplitMember",
    "TarDataset",
    "TarDatasetWithManifest",
    "ValidationCallback",
    "activate",
    "assign_splits",
    "cluster_digest",
    "collect_findings",
    "counter_identity",
    "counting_command",
    "deactivate",
    "delete",
    "download",
    "export_folder",
    "export_parquet",
    "find_bundled_folder",
    "find_corpora",
    "find_run",
    "import_corpus",
    "make_run_spec",
    "pack_run",
    "path_and_query",
    "published_archives",
    "quote_path",
    "require",
    "run_contained",
    "runs_as_expected",
    "split_of_package",
    "unpack_run",
]

__getattr__ = door(
    __name__, dict.fromkeys(("activate", "deactivate", "delete", "require"), "compiler_gym.compat")
)
