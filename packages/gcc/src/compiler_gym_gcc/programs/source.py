# SPDX-License-Identifier: MIT
"""A program as GCC reads it: one source text, or an archive of several with their headers.

The bytes of a benchmark are either plain C source, or a tar archive whose first member lists the
files to compile and their flags. Nothing is compiled here.
"""

import io
import json
import re
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from compiler_gym.builds import SOURCE_LANGUAGES
from compiler_gym.errors import BenchmarkInitError, program_unreadable
from compiler_gym.files import read_regular

__all__ = [
    "LANGUAGES",
    "SourceProgram",
    "collect",
    "compile_flags",
    "find_suffix",
    "headers_for",
    "is_cxx",
    "pack",
    "unpack",
]

LANGUAGES: Mapping[str, str] = MappingProxyType(SOURCE_LANGUAGES)
"""The language of a source file, a value of ``gcc -x``, by the suffix of its name."""

_MANIFEST = "program.json"
_MOST_HEADERS = 5000
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceProgram:
    """Source files, the list of those to compile, and the flags that they need."""

    units: tuple[str, ...]
    """The relative names of the files to compile."""
    files: Mapping[str, bytes]
    """Every file by name, including headers."""
    flags: tuple[str, ...] = field(default=())
    """The flags that the sources need, such as ``-DNDEBUG`` and ``-std=c99``."""


def pack(program: SourceProgram) -> bytes:
    """Return `program` as the bytes of a benchmark; equal programs give equal bytes."""
    alone = program.units == tuple(program.files) and len(program.units) == 1
    if alone and not program.flags and LANGUAGES.get(find_suffix(program.units[0])) == "c":
        return program.files[program.units[0]]
    manifest = {"units": program.units, "flags": program.flags}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        _add_member(archive, _MANIFEST, json.dumps(manifest).encode())
        for name in sorted(program.files):
            _add_member(archive, name, program.files[name])
    return out.getvalue()


def unpack(contents: bytes) -> SourceProgram:
    """Return the program in the bytes of a benchmark; raise `BenchmarkInitError` if not valid."""
    if contents[257:262] != b"ustar":
        if b"\0" in contents:
            raise BenchmarkInitError(
                "the program is binary data, but GCC compiles source (bitcode is for LLVM); "
                "use C source or an archive of sources"
            )
        return SourceProgram(("src.c",), {"src.c": contents})
    try:
        with tarfile.open(fileobj=io.BytesIO(contents)) as archive:
            files = {m.name: _member_bytes(archive, m) for m in archive.getmembers() if m.isfile()}
        manifest = json.loads(files.pop(_MANIFEST))
        units, flags = tuple(manifest["units"]), tuple(manifest["flags"])
    except (tarfile.TarError, KeyError, TypeError, ValueError, EOFError) as error:
        raise BenchmarkInitError(
            f"the archive of sources is damaged: it must contain {_MANIFEST} and files ({error!r})"
        ) from error
    for name in (*files, *units):
        _require_relative(name)
    missing = [unit for unit in units if unit not in files]
    if missing or not units:
        raise BenchmarkInitError(f"the archive of sources lacks {', '.join(missing) or 'sources'}")
    return SourceProgram(units, files, flags)


def collect(
    units: Sequence[Path], flags: Iterable[str] = (), base: Path | None = None
) -> SourceProgram:
    """Return the program of source files on disk, with the headers that they include.

    Headers are searched for next to the file that includes them and in the directories of ``-I``;
    all others are left to the compiler, which finds those of the system.
    """
    for unit in units:
        _require_source(unit)
    other_flags, folders = _split_flags(flags, base)
    paths = [Path(unit).expanduser().absolute() for unit in units]
    files = _closure(paths, folders)
    used = [folder for folder in folders if any(path.is_relative_to(folder) for path in files)]
    root = _common([*used, *(path.parent for path in files)])
    names = {path: path.relative_to(root).as_posix() for path in files}
    includes = tuple(f"-I{folder.relative_to(root).as_posix()}" for folder in used)
    return SourceProgram(
        tuple(names[path] for path in paths),
        {names[path]: files[path] for path in sorted(files)},
        (*includes, *other_flags),
    )


def is_cxx(program: SourceProgram) -> bool:
    """Return whether a file of the program is C++."""
    return any(LANGUAGES.get(find_suffix(u), "c").startswith("c++") for u in program.units)


def compile_flags(program: SourceProgram) -> tuple[str, ...]:
    """Return the flags that a program still needs after preprocessing."""
    return tuple(flag for flag in program.flags if not flag.startswith(("-I", "-D", "-U")))


def headers_for(text: bytes, folder: Path) -> dict[str, bytes]:
    """Return the headers below `folder` that `text` includes, by their relative names."""
    contents = _closure(_include(folder / "src.c", text, [folder]), [folder])
    return {path.relative_to(folder).as_posix(): contents[path] for path in sorted(contents)}


def find_suffix(name: str) -> str:
    """Return the suffix of a file's name, including the dot."""
    return PurePosixPath(name).suffix


def _add_member(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


def _member_bytes(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None
    return file.read()


def _require_relative(name: str) -> None:
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise BenchmarkInitError(f"the source file {name!r} would be outside of its directory")


def _require_source(path: Path) -> None:
    if Path(path).expanduser().is_dir():
        raise BenchmarkInitError(f"{path} is a directory; name a source file")
    if path.suffix not in LANGUAGES:
        raise BenchmarkInitError(
            f"unknown type of file {path}; its name must end in {', '.join(LANGUAGES)}"
        )


def _read_bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise program_unreadable(path, error) from error


def _split_flags(flags: Iterable[str], base: Path | None) -> tuple[tuple[str, ...], list[Path]]:
    """Return `flags` without ``-I``, and the directories that they named.

    These are relative to `base` or else to the working directory, and need not exist.
    """
    others: list[str] = []
    folders: list[Path] = []
    words = iter(flags)
    for word in words:
        if word in ("-I", "-isystem", "-iquote"):
            folders.append(Path(base or ".", next(words, ".")))
        elif word.startswith("-I"):
            folders.append(Path(base or ".", word[2:]))
        else:
            others.append(word)
    return tuple(others), [Path(_normal(folder)) for folder in folders]


def _include(path: Path, text: bytes, folders: Sequence[Path]) -> list[Path]:
    """Return the headers that `text` includes and that are next to it or in `folders`."""
    headers: list[Path] = []
    for quote, name in _INCLUDE.findall(text):
        locations = ([path.parent] if quote == b'"' else []) + list(folders)
        candidates = (
            Path(_normal(location / name.decode(errors="replace"))) for location in locations
        )
        header = next((candidate for candidate in candidates if candidate.is_file()), None)
        if header is not None:
            headers.append(header)
    return headers


def _closure(paths: Sequence[Path], folders: Sequence[Path]) -> dict[Path, bytes]:
    """Return the files `paths` and the headers that they include, directly or indirectly."""
    contents: dict[Path, bytes] = {}
    pending = list(paths)
    while pending:
        path = pending.pop()
        if path in contents:
            continue
        contents[path] = _read_bytes(path)
        if len(contents) > _MOST_HEADERS:
            raise BenchmarkInitError(f"{paths[0]} includes more than {_MOST_HEADERS} headers")
        pending += _include(path, contents[path], folders)
    return contents


def _normal(path: Path) -> Path:
    parts: list[str] = []
    for part in path.expanduser().absolute().parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return Path(*parts)


def _common(folders: Sequence[Path]) -> Path:
    root = folders[0]
    while not all(folder.is_relative_to(root) for folder in folders):
        root = root.parent
    return root
