# SPDX-License-Identifier: MIT
"""Which linked files did a build leave, and what was each made of?

Objects are followed by their contents, so that copies, archives and libtool's folders need
no rules of their own. What no recorded command made stays a file for the linker.
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
"""What an object was made of, by the SHA-256 of its contents; nothing where nobody knows."""


@dataclass(frozen=True, slots=True)
class Input:
    """One file on the command line of a linker."""

    word: str
    """As the command names it."""
    path: Path
    units: tuple[Unit, ...] = ()
    """The sources it was made of, where all are known."""
    is_lazy: bool = False
    """True if it is an archive, of which only what is needed is linked."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A program or a shared library that a build linked."""

    name: str
    """Where it lies, from the root of the tree."""
    path: Path
    command: CompilerCommand
    """The command that linked it."""
    inputs: tuple[Input, ...]
    """What was linked, in order, the sources that the command itself compiled first."""
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
        """Return where the source of `unit` lies, from the root of the tree."""
        return _name(unit.path.resolve(), self.root)

    @property
    def unknown(self) -> tuple[Path, ...]:
        """Objects and archives that no recorded command made; no shared libraries."""
        return tuple(
            input.path
            for input in self.inputs
            if not input.units and not is_elf(input.path, SHARED)
        )


def find_binaries(events: Iterable[Event], tree: Path) -> list[Binary]:
    """Return what was linked and is still there as it was linked, the latest command of each."""
    made: dict[str, tuple[Unit, ...]] = {}

    def origin(digest: str) -> tuple[Unit, ...]:
        return made.get(digest, ())

    links: dict[Path, tuple[CompilerCommand, str]] = {}
    for event in events:
        command = CompilerCommand.parse(event.words, event.cwd)
        digests = {command.cwd / name: digest for name, digest in event.made.items()}
        made |= {digests[path]: (unit,) for path, unit in list_objects(command) if path in digests}
        if command.mode is not Mode.PROGRAM:
            continue
        if "-r" not in command.link_flags:
            links |= {path.resolve(): (command, digest) for path, digest in digests.items()}
        elif units := _join_units([input.units for input in list_inputs(command, origin)]):
            made |= dict.fromkeys(digests.values(), units)
    unchanged = (
        Binary(
            _name(path, tree), path, command, tuple(list_inputs(command, origin)), tree.resolve()
        )
        for path, (command, digest) in links.items()
        if is_elf(path, EXECUTABLE, SHARED) and _digest(path.read_bytes()) == digest
    )
    return [binary for binary in unchanged if binary.units]


def list_objects(command: CompilerCommand) -> Iterator[tuple[Path, Unit]]:
    """Yield the objects that `command` makes, and the source of each."""
    if command.mode is Mode.OBJECT:
        for source in command.sources:
            yield command.find_output(source), Unit(command, source)


def list_inputs(command: CompilerCommand, origin: Origin) -> Iterable[Input]:
    """Yield what `command` links, its own sources first."""
    for source in command.sources:
        yield Input(source.name, command.cwd / source.name, (Unit(command, source),))
    for file in list_linked_files(command):
        units = _list_units(file.path, origin)
        if units or file.word in command.objects:
            yield replace(file, units=units)


def list_linked_files(command: CompilerCommand) -> Iterator[Input]:
    """Yield the objects and archives that `command` names, without saying what they are made of."""
    is_whole = False
    folders = _folders(command)
    for word in command.link_words:
        is_whole = _WHOLE.get(word, is_whole)
        path = command.cwd / word if word in command.objects else _library(word, folders)
        if path is not None:
            yield Input(word, path, (), is_archive(path) and not is_whole)


def _folders(command: CompilerCommand) -> list[Path]:
    """Return where the command itself says that libraries are."""
    words = command.link_words
    named = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-L"]
    named += [word[2:] for word in words if word.startswith("-L") and word != "-L"]
    return [command.cwd / name for name in named]


def _library(word: str, folders: Sequence[Path]) -> Path | None:
    """Return the archive of the project that ``-lNAME`` stands for, if it is one."""
    if not word.startswith("-l") or word == "-l":
        return None
    name = word[2:]
    for folder in folders:
        if name.startswith(":"):
            found = folder / name[1:]
        else:
            if (folder / f"lib{name}.so").exists():
                return None
            found = folder / f"lib{name}.a"
        if found.is_file():
            return found if is_archive(found) else None
    return None


def _list_units(path: Path, origin: Origin) -> tuple[Unit, ...]:
    """Return what `path` was made of; nothing where a part of it is of unknown origin."""
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
    """Return the sources of all `parts`; nothing where those of one are unknown."""
    return tuple(unit for units in parts for unit in units) if all(parts) else ()


def _name(path: Path, tree: Path) -> str:
    root = tree.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
