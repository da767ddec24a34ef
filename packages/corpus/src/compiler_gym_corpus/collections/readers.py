# SPDX-License-Identifier: MIT
"""Readers of programs in folders, archives, Parquet tables and JSON lines.

Every reader yields candidates in a fixed order, so that an import can be resumed. Unreadable
programs are yielded with the reason instead of being dropped. Nothing is stored or compiled here.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast
from urllib.parse import unquote

from compiler_gym.datasets import walk_files
from compiler_gym.datasets.fetching import Member, detect_compression, open_compressed, read_archive
from compiler_gym.errors import DatasetInitError
from compiler_gym.files import read_regular
from compiler_gym.options import ReadOptions
from compiler_gym.version import install_hint

__all__ = ["Candidate", "find_reader"]

_LANGUAGES = {
    ".c": "c",
    ".cc": "c++",
    ".cl": "opencl",
    ".cpp": "c++",
    ".cxx": "c++",
    ".f90": "fortran",
    ".rs": "rust",
    ".swift": "swift",
}
_POJ104 = re.compile(r"(.*/)?\d+/\d+\.txt")
_SPDX = re.compile(rb"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+() -]+)")
_LICENSE_FILE = re.compile(r"(licen[sc]e|copying)([._-].*)?", re.IGNORECASE)
_LICENSE_TEXTS = (
    (b"Apache License", "Apache-2.0"),
    (b"GNU AFFERO GENERAL PUBLIC LICENSE", "AGPL-3.0-only"),
    (b"GNU LESSER GENERAL PUBLIC LICENSE", "LGPL"),
    (b"GNU GENERAL PUBLIC LICENSE", "GPL"),
    (b"Mozilla Public License", "MPL-2.0"),
    (b"Permission is hereby granted, free of charge", "MIT"),
    (b"Redistribution and use in source and binary forms", "BSD"),
)
_PARQUET_TEXT = ("license_expression", "license_source", "package_source", "language")
_PARQUET_ROWS = 64
_SHORT_TARS = (".tgz", ".tbz", ".tbz2", ".txz", ".tzst")
_LINE_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program in the input, or the reason why it cannot be read."""

    key: str
    """The relative name; empty if it has no name."""
    contents: bytes = b""
    """The program, or the part that could be read."""
    suffix: str = ""
    """The suffix of the file name, for example ``.c``."""
    license: str = ""
    """Its licence."""
    source: str = ""
    """The origin: a URL, a package or a path."""
    license_files: str = ""
    """The files that state the licence, as JSON."""
    language: str = ""
    """The programming language."""
    problem: str | None = None
    """The reason why it cannot be used, or None."""


Candidates = Iterator[Candidate | None]
"""Candidates; None stands for one that an earlier, interrupted import had finished."""
ReadFunction = Callable[[Path, ReadOptions, int], Candidates]
"""A reader of a path, which skips the given number of candidates at the start."""


def find_reader(path: Path) -> ReadFunction:
    """Return the reader for `path`; raise `DatasetInitError` if there is none."""
    name = path.name.lower()
    if path.is_dir():
        holds_tables = any(path.rglob("*.parquet"))
        return _read_tables if holds_tables else _read_directory
    if not path.is_file():
        raise DatasetInitError(f"cannot import {path}: no such file or directory")
    stem = name.removesuffix(f".{name.rpartition('.')[2]}") if detect_compression(name) else name
    if name.endswith(".parquet"):
        return _read_tables
    if stem.endswith((".jsonl", ".ndjson", ".json")):
        return _read_lines
    if name.endswith(".zip") or stem.endswith(".tar") or name.endswith(_SHORT_TARS):
        return _read_members
    raise DatasetInitError(
        f"unknown format of {path.name}: import a directory, or a file whose name ends in "
        ".tar(.gz|.bz2|.xz|.zst), .zip, .parquet or .jsonl(.zst)"
    )


def _read_directory(path: Path, options: ReadOptions, start: int) -> Candidates:
    licenses = _Licenses(path, options.license)
    position = 0
    for name in walk_files(path):
        suffix = _choose_suffix(name, options)
        if suffix is None:
            continue
        position += 1
        yield _read_file(path, name, suffix, options, licenses) if position > start else None


def _read_file(
    root: Path, name: str, suffix: str, options: ReadOptions, licenses: "_Licenses"
) -> Candidate:
    source = options.source or str(root)
    try:
        size = (root / name).stat().st_size
        if size > options.max_bytes:
            return Candidate(
                name, source=source, problem=f"{size} bytes exceed the limit of {options.max_bytes}"
            )
        contents = read_regular(root / name)
    except OSError as error:
        return Candidate(name, source=source, problem=f"cannot be read: {error.strerror}")
    license = _find_spdx(contents) or licenses.of(name)
    return _judge(_make_candidate(name, contents, suffix, license, source, options))


def _read_members(path: Path, options: ReadOptions, start: int) -> Candidates:
    source = options.source or path.name
    position = 0
    for member in read_archive(path, limits=options.limits):
        suffix = _choose_suffix(member.name, options)
        if suffix is None or member.link is not None:
            continue
        position += 1
        yield _read_member(member, suffix, source, options) if position > start else None


def _read_member(member: Member, suffix: str, source: str, options: ReadOptions) -> Candidate:
    problem = member.problem
    if problem is None and member.size > options.max_bytes:
        problem = f"{member.size} bytes exceed the limit of {options.max_bytes}"
    if problem is not None:
        return Candidate(member.name, source=source, problem=problem)
    target = io.BytesIO()
    try:
        member.copy_to(target)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        # One damaged zip entry, or one with an unknown compression: others may be readable.
        return Candidate(member.name, target.getvalue(), source=source, problem=str(error))
    contents = target.getvalue()
    license = _find_spdx(contents) or options.license or "unknown"
    return _judge(_make_candidate(member.name, contents, suffix, license, source, options))


def _read_tables(path: Path, options: ReadOptions, start: int) -> Candidates:
    tables = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    position = 0
    for table in tables:
        candidates = _read_table(table, options, max(0, start - position), alone=table == path)
        for candidate in candidates:
            position += 1
            yield candidate


def _read_table(path: Path, options: ReadOptions, start: int, *, alone: bool) -> Candidates:
    parquet = _parquet()
    try:
        file = parquet.ParquetFile(path)
    except Exception as error:
        yield Candidate(path.name, source=str(path), problem=f"not a Parquet file: {error}")
        return
    with file:
        names = set(file.schema_arrow.names)
        if "content" not in names:
            problem = f"{path.name} has no column 'content', only {', '.join(sorted(names))}"
            if alone:
                raise DatasetInitError(problem)
            yield Candidate(path.name, source=str(path), problem=problem)
            return
        columns = [*_PARQUET_TEXT, "content", "license_files", "key", "suffix"]
        columns = [name for name in columns if name in names]
        position = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if position + rows <= start:
                yield from (None for _ in range(rows))
            else:
                yield from _read_group(file, group, columns, options, path, start - position)
            position += rows


def _read_group(
    file: Any, group: int, columns: list[str], options: ReadOptions, path: Path, start: int
) -> Candidates:
    done = 0
    try:
        batches = file.iter_batches(_PARQUET_ROWS, row_groups=[group], columns=columns)
        for batch in batches:
            for row in batch.to_pylist():
                done += 1
                yield _read_row(row, options, path) if done > start else None
    except (OSError, ValueError) as error:
        # pyarrow's errors derive from these; the other row groups may be intact.
        for _ in range(file.metadata.row_group(group).num_rows - done):
            done += 1
            name = f"{path.name}/group-{group}/row-{done}"
            yield Candidate(name, source=str(path), problem=f"damaged: {error}")


def _read_row(row: dict[str, Any], options: ReadOptions, path: Path) -> Candidate:
    contents = row.get("content")
    text = {name: str(row.get(name) or "") for name in (*_PARQUET_TEXT, "key", "suffix")}
    key = _relative(unquote(text["key"], errors="surrogateescape"))
    source = text["package_source"] or text["license_source"] or options.source or path.name
    if isinstance(contents, str):
        contents = contents.encode("utf-8", "surrogateescape")
    if not isinstance(contents, bytes) or len(contents) > options.max_bytes:
        return Candidate(key, source=source, problem="no contents, or too large")
    files = row.get("license_files") or ""
    if not isinstance(files, str):
        files = json.dumps(files, default=str)
    return _judge(
        Candidate(
            key=key,
            contents=contents,
            suffix=text["suffix"] or ".bc",
            license=text["license_expression"] or options.license or "unknown",
            source=source,
            license_files=files,
            language=text["language"] or options.language,
        )
    )


def _read_lines(path: Path, options: ReadOptions, start: int) -> Candidates:
    compression = detect_compression(path.name)
    with open_compressed(path, compression, limits=options.limits) as file:
        number = 0
        while line := file.readline(_LINE_BYTES):
            number += 1
            if number <= start:
                yield None
            elif line.strip():
                yield _read_line(line, number, options, path)
            else:
                yield None


def _read_line(line: bytes, number: int, options: ReadOptions, path: Path) -> Candidate:
    name = f"line-{number}"
    source = options.source or path.name
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Candidate(name, line, source=source, problem=f"invalid JSON: {error}")
    record = (
        cast("dict[str, Any]", record).get("text", record) if isinstance(record, dict) else None
    )
    if isinstance(record, str):
        record = {"code": record}
    code = _read_code(cast("dict[str, Any]", record)) if isinstance(record, dict) else None
    if not code:
        return Candidate(
            name, line, source=source, problem="no field func_def, code, content or source"
        )
    record = cast("dict[str, Any]", record)
    suffix = str(record.get("suffix") or ".c")
    return _judge(
        Candidate(
            key=_relative("/".join(str(record[k]) for k in ("path", "fname") if record.get(k))),
            contents=code.encode("utf-8", "surrogatepass"),
            suffix=suffix,
            license=str(record.get("license") or options.license or "unknown"),
            source=str(record.get("ref") or record.get("repo") or source),
            license_files="",
            language=str(record.get("language") or options.language or _LANGUAGES.get(suffix, "")),
        )
    )


def _read_code(record: dict[str, Any]) -> str | None:
    """Return a function with its dependencies from a record in ExeBench's or a similar format."""
    function = record.get("func_def")
    if isinstance(function, str):
        needs = record.get("real_deps") or record.get("synth_deps") or ""
        return f"{needs}\n{function}\n" if isinstance(needs, str) and needs else function
    texts = (record.get(key) for key in ("code", "content", "source"))
    return next((text for text in texts if isinstance(text, str)), None)


def _make_candidate(
    name: str, contents: bytes, suffix: str, license: str, source: str, options: ReadOptions
) -> Candidate:
    language = options.language or _LANGUAGES.get(suffix, "")
    return Candidate(
        key=name,
        contents=contents,
        suffix=suffix,
        license=license,
        source=source,
        license_files="",
        language=language,
    )


def _relative(name: str) -> str:
    """Return the name from a table row, without parts that could leave the directory."""
    return "/".join(part for part in name.split("/") if part not in ("", ".", ".."))


def _judge(candidate: Candidate) -> Candidate:
    if candidate.contents:
        return candidate
    return Candidate(candidate.key, source=candidate.source, problem="it is empty")


def _choose_suffix(name: str, options: ReadOptions) -> str | None:
    """Return the program suffix of a file name; None if the file is not a program."""
    if _POJ104.fullmatch(name):
        return ".cpp"
    suffix = PurePosixPath(name).suffix.lower()
    hidden = any(part.startswith(".") for part in name.split("/") if part not in (".", ".."))
    return suffix if not hidden and ("" in options.suffixes or suffix in options.suffixes) else None


def _find_spdx(contents: bytes) -> str:
    match = _SPDX.search(contents, 0, 4096)
    return match[1].decode().strip() if match else ""


class _Licenses:
    """Licences of files, from the nearest licence file in a parent folder."""

    def __init__(self, root: Path, fixed: str) -> None:
        self._root = root
        self._fixed = fixed
        self._by_folder: dict[str, str] = {}

    def of(self, name: str) -> str:
        """Return the licence of the file `name`, or ``unknown``."""
        if self._fixed:
            return self._fixed
        folder = name.rpartition("/")[0]
        return self._find_in_folder(folder) or "unknown"

    def _find_in_folder(self, folder: str) -> str:
        if folder not in self._by_folder:
            own = self._read_license(self._root / folder)
            above = "" if not folder else self._find_in_folder(folder.rpartition("/")[0])
            self._by_folder[folder] = own or above
        return self._by_folder[folder]

    def _read_license(self, folder: Path) -> str:
        for path in sorted(folder.iterdir()):
            if _LICENSE_FILE.fullmatch(path.name) and path.is_file():
                with path.open("rb") as file:
                    text = b" ".join(file.read(20_000).split())
                names = (name for phrase, name in _LICENSE_TEXTS if phrase in text)
                return _find_spdx(text) or next(names, f"see {path.name}")
        return ""


def _parquet() -> Any:
    try:
        import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]  # it has none
    except ImportError as error:
        raise DatasetInitError(f"Parquet needs pyarrow: {install_hint('parquet')}") from error
    return pyarrow.parquet
