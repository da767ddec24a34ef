# SPDX-License-Identifier: MIT
"""Find the linked files of a build and the sources of each.

Objects are identified by their contents, so copies, archives and libtool's folders need no special
rules. Objects that no recorded command produced are linked as they are.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.builds import (
    EXECUTABLE,
    SHARED,
    CompilerCommand,
    Mode,
    Source,
    is_archive,
    is_elf,
    iterate_members,
)
from compiler_gym.tools.tune.builds.recording import Event

__all__ = [
    "Binary",
    "Input",
    "Origin",
    "Unit",
    "find_binaries",
    "list_inputs",
    "list_linked_files",
    "list_objects",
]

_WHOLE = {"-Wl,--whole-archive": True, "-Wl,--no-whole-archive": False}


@dataclass(frozen=True, slots=True)
class Unit:
    """One source, and the command that compiled it."""

    command: CompilerCommand
    source: Source

    @property
    def path(self) -> Path:
        """The source file."""
        return self.command.cwd / self.source.name


Origin = Callable[[str], "tuple[Unit, ...]"]
"""A function from the SHA-256 of an object to its sources; empty if these are unknown."""


@dataclass(frozen=True, slots=True)
class Input:
    """One file on the command line of a linker."""

    word: str
    """The argument of the command."""
    path: Path
    units: tuple[Unit, ...] = ()
    """The sources of the file, if all are known."""
    is_lazy: bool = False
    """True if it is an archive from which only the needed members are linked."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A program or a shared library that a build linked."""

    name: str
    """The path from the root of the tree."""
    path: Path
    command: CompilerCommand
    """The command that linked it."""
    inputs: tuple[Input, ...]
    """The linked files in order; sources that the command itself compiled come first."""
    root: Path
    """The tree of the project."""

    @property
    def is_shared(self) -> bool:
        """True if it is a shared library."""
        return "-shared" in self.command.link_flags

    @property
    def is_cxx(self) -> bool:
        """True if it is linked as C++."""
        return self.command.is_cxx

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every source, each once."""
        return tuple(dict.fromkeys(unit for input in self.inputs for unit in input.units))

    def name_unit(self, unit: Unit) -> str:
        """Return the path of the source of `unit`, from the root of the tree."""
        return _name(unit.path.resolve(), self.root)

    @property
    def unknown(self) -> tuple[Path, ...]:
        """Objects and archives of unknown origin, without shared libraries."""
        return tuple(
            input.path
            for input in self.inputs
            if not input.units and not is_elf(input.path, SHARED)
        )


def find_binaries(events: Iterable[Event], tree: Path) -> list[Binary]:
    """Return the linked files that still exist unchanged, each with its latest link command."""
    origins: dict[str, tuple[Unit, ...]] = {}

    def origin(digest: str) -> tuple[Unit, ...]:
        return origins.get(digest, ())

    linked: dict[Path, tuple[CompilerCommand, str]] = {}
    for event in events:
        command = CompilerCommand.parse(event.words, event.cwd)
        hashes = {command.cwd / name: digest for name, digest in event.made.items()}
        origins |= {hashes[path]: (unit,) for path, unit in list_objects(command) if path in hashes}
        if command.mode is not Mode.PROGRAM:
            continue
        if "-r" not in command.link_flags:
            linked |= {
                _find_product(path.resolve()): (command, digest) for path, digest in hashes.items()
            }
        elif units := _join_units([input.units for input in list_inputs(command, origin)]):
            origins |= dict.fromkeys(hashes.values(), units)
    unchanged = (
        Binary(
            _name(path, tree), path, command, tuple(list_inputs(command, origin)), tree.resolve()
        )
        for path, (command, digest) in linked.items()
        if is_elf(path, EXECUTABLE, SHARED) and _digest(path.read_bytes()) == digest
    )
    return [
        binary
        for binary in unchanged
        if binary.units and all(input.path.exists() for input in binary.inputs)
    ]


def _find_product(path: Path) -> Path:
    """Return the name that cargo gives to a linked file in its folder ``deps`` by a hard link."""
    if path.parent.name != "deps" or not path.is_file():
        return path
    files = (file for file in path.parent.parent.iterdir() if file.is_file())
    return next((file for file in files if file.samefile(path)), path)


def list_objects(command: CompilerCommand) -> Iterator[tuple[Path, Unit]]:
    """Yield each object that `command` writes, with its source."""
    if command.mode is Mode.OBJECT:
        for source in command.sources:
            yield command.find_output(source), Unit(command, source)


def list_inputs(command: CompilerCommand, origin: Origin) -> Iterable[Input]:
    """Yield the inputs of the link `command`, its own sources first."""
    for source in command.sources:
        yield Input(source.name, command.cwd / source.name, (Unit(command, source),))
    for file in list_linked_files(command):
        units = _list_units(file.path, origin)
        if units or file.word in command.objects:
            yield replace(file, units=units)


def list_linked_files(command: CompilerCommand) -> Iterator[Input]:
    """Yield the objects and archives that `command` names, without their sources."""
    is_whole = False
    folders = _folders(command)
    for word in command.link_words:
        is_whole = _WHOLE.get(word, is_whole)
        path = command.cwd / word if word in command.objects else _library(word, folders)
        if path is not None:
            yield Input(word, path, (), is_archive(path) and not is_whole)


def _folders(command: CompilerCommand) -> list[Path]:
    """Return the library folders that the command names with ``-L``."""
    words = command.link_words
    names = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-L"]
    names += [word[2:] for word in words if word.startswith("-L") and word != "-L"]
    return [command.cwd / name for name in names]


def _library(word: str, folders: Sequence[Path]) -> Path | None:
    """Return the project's archive for ``-lNAME``; None if the library is not an archive."""
    if not word.startswith("-l") or word == "-l":
        return None
    name = word[2:]
    for folder in folders:
        if name.startswith(":"):
            path = folder / name[1:]
        else:
            if (folder / f"lib{name}.so").exists():
                return None
            path = folder / f"lib{name}.a"
        if path.is_file():
            return path if is_archive(path) else None
    return None


def _list_units(path: Path, origin: Origin) -> tuple[Unit, ...]:
    """Return the sources of `path`; empty if the origin of any part is unknown."""
    try:
        data = path.read_bytes()
    except OSError:
        return ()
    if not is_archive(path):
        return origin(_digest(data))
    return _join_units(
        [() if member is None else origin(_digest(member)) for member in iterate_members(data)]
    )


def _join_units(parts: Sequence[tuple[Unit, ...]]) -> tuple[Unit, ...]:
    """Return the sources of all `parts`; empty if those of any part are unknown."""
    return tuple(unit for units in parts for unit in units) if all(parts) else ()


def _name(path: Path, tree: Path) -> str:
    root = tree.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
