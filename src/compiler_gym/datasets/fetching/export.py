# SPDX-License-Identifier: MIT
"""Write the programs of a dataset as a Parquet table, in ComPile's columns.

What is written can be imported again. The table appears when it is complete.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from compiler_gym.datasets.corpus import CorpusDataset
from compiler_gym.datasets.corpus_store import CorpusProgram
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.fetching.install import as_dataset_errors
from compiler_gym.datasets.uri import quote_path
from compiler_gym.errors import DatasetInitError
from compiler_gym.files import replaced_file
from compiler_gym.version import install_hint

__all__ = ["export_parquet"]

_ROWS_PER_BATCH = 256
_COLUMNS = (
    ("key", "string"),
    ("content", "binary"),
    ("suffix", "string"),
    ("sha256", "string"),
    ("license_expression", "string"),
    ("license_source", "string"),
    ("license_files", "string"),
    ("package_source", "string"),
    ("language", "string"),
)


def export_parquet(dataset: Dataset, path: str | Path, *, limit: int | None = None) -> int:
    """Write the first `limit` programs of `dataset` to `path` and return how many there were.

    A dataset without end needs a `limit`.
    """
    if limit is None and dataset.size == 0:
        raise DatasetInitError(f"{dataset.name} has no end: expected a limit")
    arrow, parquet = _arrow()
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in _COLUMNS])
    rows = islice(_program_rows(dataset), limit)
    count = 0
    with (
        as_dataset_errors(f"cannot write {path}"),
        replaced_file(Path(path)) as partial,
        parquet.ParquetWriter(partial, schema) as writer,
    ):
        while batch := list(islice(rows, _ROWS_PER_BATCH)):
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    return count


def _program_rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    for program in _programs(dataset):
        yield {
            "key": program.key,
            "content": program.contents,
            "suffix": program.suffix,
            "sha256": program.sha256,
            "license_expression": program.license,
            "license_source": program.source,
            "license_files": program.license_files,
            "package_source": program.source,
            "language": program.language,
        }


def _programs(dataset: Dataset) -> Iterable[CorpusProgram]:
    if isinstance(dataset, CorpusDataset):
        yield from dataset.programs()
        return
    for benchmark in dataset.benchmarks():
        key = quote_path(benchmark.uri.path[1:])
        suffix = Path(key).suffix
        digest = benchmark.content_hash
        licence, source = dataset.license, dataset.name
        yield CorpusProgram(
            key=key,
            contents=benchmark.contents,
            sha256=digest,
            suffix=suffix,
            license=licence,
            source=source,
            license_files="",
            language="",
        )


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # pyright: ignore[reportMissingTypeStubs]  # it has none
        import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise DatasetInitError(f"Parquet needs pyarrow: {install_hint('parquet')}") from error
    return pyarrow, pyarrow.parquet
