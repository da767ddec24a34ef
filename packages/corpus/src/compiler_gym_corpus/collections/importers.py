# SPDX-License-Identifier: MIT
"""Import a collection of programs into a corpus file and report the result.

Call an interrupted import again to resume it. The corpus appears when it is complete; an existing
corpus of the same name is extended.
"""

import hashlib
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.datasets import CORPUS_FILE, BenchmarkUri
from compiler_gym.datasets.fetching import Report, as_damage, transfer_bar
from compiler_gym.errors import DatasetInitError
from compiler_gym.options import ReadOptions
from compiler_gym_corpus.collections.corpus_writer import Added, CorpusWriter
from compiler_gym_corpus.collections.readers import Candidate, find_reader

__all__ = ["ImportReport", "corpus_path", "import_corpus"]

_REMEMBERED = 20
_EXAMPLES = ("a.bc", "a.ll", "a.c", "a.cpp")

Check = Callable[[bytes, str], str | None]
"""A function of a program and its suffix; returns why a compiler cannot read it, or None."""


@dataclass(slots=True)
class ImportReport:
    """The result of an import."""

    path: Path
    """The corpus file."""
    added: int = 0
    """The number of new programs."""
    duplicates: int = 0
    """The number of programs whose bytes were already stored under another name."""
    already_there: int = 0
    """The number of programs that were already stored under the same name."""
    unreadable: int = 0
    """The number of unreadable inputs, which are recorded in the corpus with the reason."""
    resumed_at: int = 0
    """The number of items that an interrupted import had finished before this one."""
    read_bytes: int = 0
    """The total size of the programs read."""
    stored_bytes: int = 0
    """The size of the corpus file."""
    seconds: float = 0.0
    """The duration of the import."""
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The names of the first few unreadable inputs, with the reasons."""

    def __str__(self) -> str:
        return (
            f"{self.added} programs added, {self.duplicates} duplicates, "
            f"{self.already_there} already there, {self.unreadable} unreadable, "
            f"{self.read_bytes} bytes read, {self.stored_bytes} stored, {self.seconds:.1f} s"
        )


def corpus_path(site_data_base: Path, name: str) -> Path:
    """Return the path of the corpus `name`."""
    uri = BenchmarkUri.from_string(name)
    if not uri.dataset or uri.path.strip("/") or uri.params:
        raise DatasetInitError(f"{name!r} is not a dataset name; use a name such as mine-v0")
    return site_data_base / uri.scheme / uri.dataset / CORPUS_FILE


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
    """Import `path` as the dataset `name` and return a report.

    `path` is a directory, a tar or zip archive, Parquet with a ``content`` column, or JSON lines
    of C functions. `check` is called for each program: rejected programs are recorded as
    unreadable.

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
    read_options = options or ReadOptions()
    read = find_reader(source)
    result = ImportReport(corpus_path(site_data_base, name))
    started = time.monotonic()
    writer = CorpusWriter(
        result.path,
        name=name,
        license=read_options.license,
        description=description,
        input_id=_make_identity(source),
    )
    with writer, as_damage(source):
        result.resumed_at = start = writer.position
        position = 0
        for position, candidate in enumerate(read(source, read_options, start), start=1):
            if candidate is not None:
                _add(writer, candidate, position, check, result)
                writer.advance(position)
                report(result.read_bytes, None)
        if writer.count == 0:
            raise _report_empty(source, position, result)
    result.stored_bytes = result.path.stat().st_size
    result.seconds = time.monotonic() - started
    return result


def _report_empty(source: Path, items: int, result: ImportReport) -> DatasetInitError:
    if not items:
        return DatasetInitError(
            f"no programs in {source}: files need names such as {', '.join(_EXAMPLES)}; pass other "
            "suffixes if yours differ"
        )
    first = "; ".join(f"{key}: {problem}" for key, problem in result.problems[:3])
    return DatasetInitError(f"none of the {items} programs in {source} could be read: {first}")


def _add(
    writer: CorpusWriter,
    candidate: Candidate,
    position: int,
    check: Check | None,
    result: ImportReport,
) -> None:
    contents = candidate.contents
    key = candidate.key or _make_key(contents, candidate.suffix, position)
    problem = candidate.problem
    if problem is None and check is not None:
        problem = check(contents, candidate.suffix)
    if problem is not None:
        writer.add_unreadable(key, problem, contents, source=candidate.source)
        return _remember(result, key, problem)
    result.read_bytes += len(contents)
    added = writer.add(
        key,
        contents,
        suffix=candidate.suffix,
        license=candidate.license,
        source=candidate.source,
        license_files=candidate.license_files,
        language=candidate.language,
    )
    result.added += added is Added.NEW
    result.duplicates += added is Added.DUPLICATE
    result.already_there += added is Added.ALREADY_THERE
    if added is Added.NAME_TAKEN:
        _remember(result, key, "another program has this name")
    return None


def _remember(result: ImportReport, key: str, problem: str) -> None:
    result.unreadable += 1
    if len(result.problems) < _REMEMBERED:
        result.problems.append((key, problem))


def _make_key(contents: bytes, suffix: str, position: int) -> str:
    if not contents:
        return f"number-{position}{suffix}"
    return hashlib.sha256(contents).hexdigest()[:20] + suffix


def _make_identity(source: Path) -> str:
    """Return a string that changes with the file, so that no stale position is used."""
    status = source.stat()
    version = "" if source.is_dir() else f" {status.st_size} {status.st_mtime_ns}"
    return ascii(f"{source.resolve()}{version}")
