# SPDX-License-Identifier: MIT
"""Write the programs of a dataset as Parquet, with ComPile's columns and a few more.

A single file is meant for importing again; a folder, with a file for each split and a dataset
card, can be used without this library. Output appears atomically when it is complete, and only
a few programs are in memory at a time.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from compiler_gym.datasets import (
    NO_SPLIT,
    SPLITS,
    CorpusDataset,
    CorpusProgram,
    Dataset,
    ProgramFacts,
    quote_path,
)
from compiler_gym.datasets.fetching import as_dataset_errors, hold
from compiler_gym.errors import DatasetInitError
from compiler_gym.files import replace_directory, replace_file
from compiler_gym.version import install_hint
from compiler_gym_corpus.collections.card import ExportedSplit, write_card

__all__ = ["export_folder", "export_parquet"]

_ROWS_PER_BATCH = 256
_BYTES_PER_BATCH = 1 << 25
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
_FACTS = (
    ("package", "string"),
    ("version", "string"),
    ("source_sha256", "string"),
    ("file", "string"),
    ("command", "string"),
    ("kinds", "string"),
    ("split", "string"),
    ("cluster", "string"),
    ("instructions", "int64"),
    ("functions", "int64"),
    ("programs", "string"),
    ("places", "string"),
)
"""The additional columns of programs that were gathered from packages; lists are JSON."""
_ALL = "all"


def export_parquet(dataset: Dataset, path: str | Path, *, limit: int | None = None) -> int:
    """Write the first `limit` programs of `dataset` to `path` and return their number.

    An unbounded dataset needs a `limit`.
    """
    _require_end(dataset, limit)
    with as_dataset_errors(f"cannot write {path}"), replace_file(Path(path)) as partial:
        return sum(_write_table(partial, islice(_program_rows(dataset), limit)).values())


def export_folder(dataset: Dataset, folder: str | Path, *, limit: int | None = None) -> int:
    """Write the first `limit` programs of each split to `folder`; return their number.

    The files are ``train.parquet``, ``validation.parquet``, ``test.parquet``, and
    ``shared.parquet`` for programs in no split; or ``all.parquet`` for a dataset without splits.
    ``README.md`` is a card for Hugging Face's library ``datasets``. An existing folder is replaced
    only if it is an earlier export.
    """
    target = Path(folder)
    _require_end(dataset, limit)
    if target.exists() and not _is_export(target):
        raise DatasetInitError(
            f"{target} exists and is not an export; choose a new folder or an earlier export"
        )
    written: list[ExportedSplit] = []
    with (
        as_dataset_errors(f"cannot write {target}"),
        hold(target),
        replace_directory(target) as partial,
    ):
        for name, part in _parts(dataset):
            licences = _write_table(partial / f"{name}.parquet", islice(_program_rows(part), limit))
            written.append(ExportedSplit(name, licences))
        packages = dataset.packages() if isinstance(dataset, CorpusDataset) else []
        (partial / "README.md").write_text(write_card(dataset, written, packages), encoding="utf-8")
    return sum(part.count for part in written)


def _require_end(dataset: Dataset, limit: int | None) -> None:
    if limit is None and dataset.size == 0:
        raise DatasetInitError(f"{dataset.name} is unbounded: set a limit")


def _is_export(folder: Path) -> bool:
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else {""}
    return all(name == "README.md" or name.endswith(".parquet") for name in names)


def _parts(dataset: Dataset) -> Iterator[tuple[str, Dataset]]:
    """Yield the non-empty splits, or the whole dataset if it has no splits."""
    if not (isinstance(dataset, CorpusDataset) and dataset.has_splits):
        yield _ALL, dataset
        return
    for name in (*SPLITS, NO_SPLIT):
        part = dataset.split(name)
        if part.size:
            yield name, part


def _write_table(path: Path, rows: Iterator[dict[str, Any]]) -> "Counter[str]":
    """Write `rows` in batches and return the number of programs per licence."""
    arrow, parquet = _arrow()
    licences: Counter[str] = Counter()
    first = next(rows, None)
    columns = (*_COLUMNS, *(_FACTS if first is not None and "split" in first else ()))
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in columns])
    with parquet.ParquetWriter(path, schema) as writer:
        for batch in _batches(_put_back(first, rows)):
            licences.update(row["license_expression"] for row in batch)
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
    return licences


def _put_back(first: Any, rows: Iterator[Any]) -> Iterator[Any]:
    if first is not None:
        yield first
        yield from rows


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(row["content"])
        if len(batch) >= _ROWS_PER_BATCH or size >= _BYTES_PER_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _program_rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    for program in _programs(dataset):
        row = {
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
        if isinstance(dataset, CorpusDataset) and dataset.has_splits:
            row |= _fact_columns(dataset.read_facts(program))
        yield row


def _fact_columns(facts: ProgramFacts) -> dict[str, Any]:
    """Return the columns of facts; those about the origin describe the first place."""
    place = facts.places[0]
    return {
        "package": place.package,
        "version": place.version,
        "source_sha256": place.source_sha256,
        "file": place.file,
        "command": json.dumps(place.command),
        "kinds": json.dumps(facts.kinds),
        "split": facts.split,
        "cluster": facts.cluster,
        "instructions": facts.instructions,
        "functions": facts.functions,
        "programs": json.dumps(facts.programs),
        "places": json.dumps([[p.package, p.version, p.file] for p in facts.places]),
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
