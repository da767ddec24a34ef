# SPDX-License-Identifier: MIT
"""Turn what somebody has into a corpus: one call, one file, a report.

An import is resumed by calling it again. The corpus appears when it is complete;
an existing corpus of that name grows.
"""

import hashlib
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.datasets.corpus import FILE_NAME
from compiler_gym.datasets.fetching.archive import as_damage
from compiler_gym.datasets.fetching.corpus_writer import Added, CorpusWriter
from compiler_gym.datasets.fetching.progress import Report, transfer_bar
from compiler_gym.datasets.fetching.readers import Candidate, find_reader
from compiler_gym.datasets.uri import BenchmarkUri
from compiler_gym.errors import DatasetInitError
from compiler_gym.options import ReadOptions

__all__ = ["ImportReport", "corpus_path", "import_corpus"]

_REMEMBERED = 20
_EXAMPLES = ("a.bc", "a.ll", "a.c", "a.cpp")

Check = Callable[[bytes, str], str | None]
"""Takes a program and its suffix; returns why a compiler cannot read it, or None."""


@dataclass(slots=True)
class ImportReport:
    """What an import did."""

    path: Path
    """The corpus file."""
    added: int = 0
    """Programs that are new."""
    duplicates: int = 0
    """Programs whose bytes were there under another name."""
    already_there: int = 0
    """Programs that were there under this name."""
    unreadable: int = 0
    """What could not be read; it is kept in the corpus, with the reason."""
    resumed_at: int = 0
    """Number of items that an earlier, interrupted import had handled."""
    read_bytes: int = 0
    """The size of the programs that were read."""
    stored_bytes: int = 0
    """The size of the corpus file."""
    seconds: float = 0.0
    """How long it took."""
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The first few names and reasons of what could not be read."""

    def __str__(self) -> str:
        return (
            f"{self.added} programs added, {self.duplicates} duplicates, "
            f"{self.already_there} already there, {self.unreadable} unreadable, "
            f"{self.read_bytes} bytes read, {self.stored_bytes} stored, {self.seconds:.1f} s"
        )


def corpus_path(site_data_base: Path, name: str) -> Path:
    """Return where the corpus `name` is kept."""
    uri = BenchmarkUri.from_string(name)
    if not uri.dataset or uri.path.strip("/") or uri.params:
        raise DatasetInitError(f"not the name of a dataset: {name!r}: expected name-v0")
    return site_data_base / uri.scheme / uri.dataset / FILE_NAME


def import_corpus(
    name: str,
    path: str | Path,
    *,
    site_data_base: Path,
    options: ReadOptions | None = None,
    description: str = "",
    check: Check | None = None,
    report: Report | None = None,
) -> ImportReport:
    """Import `path` as the dataset `name` and return what became of it.

    `path` is a directory, a tar or zip archive, Parquet with a ``content``
    column, or JSON-lines of C functions. `check` is asked about each program:
    what it rejects is kept as unreadable.

        >>> import tempfile
        >>> root = Path(tempfile.mkdtemp())
        >>> (root / "src").mkdir()
        >>> _ = (root / "src/a.c").write_text("int a;"), (root / "src/b.c").write_text("int a;")
        >>> done = import_corpus("mine-v0", root / "src", site_data_base=root / "site")
        >>> done.added, done.duplicates
        (1, 1)
        >>> from compiler_gym.datasets import CorpusDataset
        >>> CorpusDataset(done.path)["b.c"].contents
        b'int a;'
    """
    source = Path(path)
    bar = transfer_bar(f"Importing {source.name}") if report is None else nullcontext(report)
    with bar as shown:
        return _import(
            name=name,
            source=source,
            site_data_base=site_data_base,
            options=options,
            description=description,
            check=check,
            report=shown,
        )


def _import(
    name: str,
    source: Path,
    site_data_base: Path,
    options: ReadOptions | None,
    description: str,
    check: Check | None,
    report: Report,
) -> ImportReport:
    chosen = options or ReadOptions()
    read = find_reader(source)
    done = ImportReport(corpus_path(site_data_base, name))
    started = time.monotonic()
    writer = CorpusWriter(
        done.path,
        name=name,
        license=chosen.license,
        description=description,
        input_id=_make_identity(source),
    )
    with writer, as_damage(source):
        done.resumed_at = start = writer.position
        position = 0
        for position, candidate in enumerate(read(source, chosen, start), start=1):
            if candidate is not None:
                _take(writer, candidate, position, check, done)
                writer.advance(position)
                report(done.read_bytes, None)
        if writer.count == 0:
            raise _nothing_in(source, position, done)
    done.stored_bytes = done.path.stat().st_size
    done.seconds = time.monotonic() - started
    return done


def _nothing_in(source: Path, items: int, done: ImportReport) -> DatasetInitError:
    if not items:
        return DatasetInitError(
            f"no program in {source}: expected files named like {', '.join(_EXAMPLES)}, or other "
            "suffixes to be named"
        )
    first = "; ".join(f"{key}: {problem}" for key, problem in done.problems[:3])
    return DatasetInitError(f"no program in {source} could be read, of {items}: {first}")


def _take(
    writer: CorpusWriter,
    candidate: Candidate,
    position: int,
    check: Check | None,
    done: ImportReport,
) -> None:
    contents = candidate.contents
    key = candidate.key or _make_key(contents, candidate.suffix, position)
    problem = candidate.problem
    if problem is None and check is not None:
        problem = check(contents, candidate.suffix)
    if problem is not None:
        writer.add_unreadable(key, problem, contents, source=candidate.source)
        return _remember(done, key, problem)
    done.read_bytes += len(contents)
    added = writer.add(
        key,
        contents,
        suffix=candidate.suffix,
        license=candidate.license,
        source=candidate.source,
        license_files=candidate.license_files,
        language=candidate.language,
    )
    done.added += added is Added.NEW
    done.duplicates += added is Added.DUPLICATE
    done.already_there += added is Added.ALREADY_THERE
    if added is Added.NAME_TAKEN:
        _remember(done, key, "another program has this name")
    return None


def _remember(done: ImportReport, key: str, problem: str) -> None:
    done.unreadable += 1
    if len(done.problems) < _REMEMBERED:
        done.problems.append((key, problem))


def _make_key(contents: bytes, suffix: str, position: int) -> str:
    if not contents:
        return f"number-{position}{suffix}"
    return hashlib.sha256(contents).hexdigest()[:20] + suffix


def _make_identity(source: Path) -> str:
    """Return a text that changes when a file does, so that no stale position is used."""
    found = source.stat()
    moment = "" if source.is_dir() else f" {found.st_size} {found.st_mtime_ns}"
    return ascii(f"{source.resolve()}{moment}")
