# SPDX-License-Identifier: MIT
"""Find the linked files of a build and the sources of each.

Objects are identified by their contents, so copies, archives and libtool's folders need no special
rules. Objects that no recorded command produced are linked as they are.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.builds import (
    EXECUTABLE,
    SHARED,
    CompilerCommand,
    Mode,
    is_archive,
    is_elf,
    iterate_arguments,
    read_members,
)
from compiler_gym.tools.tune.builds.linked_files import Input, Unit, list_linked_files
from compiler_gym.tools.tune.builds.recording import Event

__all__ = ["Binary", "Origin", "find_binaries", "list_inputs", "list_objects"]

Origin = Callable[[str], "tuple[Unit, ...]"]
"""A function from the SHA-256 of an object to its sources; empty if these are unknown."""
_PARTIAL_LINK = {"-r", "-nostdlib", "-nostartfiles", "-no-pie"}
"""The linker flags of a partial link whose objects can be linked instead of it."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A program or a shared library that a build linked."""

    name: str
    """The path from the root of the tree."""
    path: Path
    command: CompilerCommand
    """The command that linked it."""
    inputs: tuple[Input, ...]
    """The linked files in order."""
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
        """Objects and archives with parts of unknown origin, without shared libraries."""
        return tuple(
            input.path
            for input in self.inputs
            if not input.is_known and not is_elf(input.path, SHARED)
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
        elif _PARTIAL_LINK.issuperset(command.link_flags):
            inputs = list_inputs(command, origin)
            if all(input.is_known and not input.is_lazy for input in inputs):
                units = tuple(unit for input in inputs for unit in input.units)
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


def list_inputs(command: CompilerCommand, origin: Origin) -> list[Input]:
    """Return the inputs of the link `command` in order, with the sources that `origin` knows."""
    sources = {source.name: source for source in command.sources}
    inputs = [
        Input(name, command.cwd / name, (Unit(command, sources[name]),), at=(at + 1, 0))
        for at, name, *_, is_file in iterate_arguments(command.words[1:])
        if is_file and name in sources
    ]
    for file in list_linked_files(command):
        known = _find_units(file, origin)
        if known.units or not file.is_library:
            inputs.append(known)
    return sorted(inputs, key=lambda input: input.at)


def _find_units(file: Input, origin: Origin) -> Input:
    """Return `file` with its sources. An archive's member of several sources is unknown, because
    they can only be linked together."""
    try:
        if not is_archive(file.path):
            return replace(file, units=origin(_digest(file.path.read_bytes())))
        units, members = list[Unit](), list[tuple[str, int | None]]()
        for name, data in read_members(file.path):
            known = () if data is None else origin(_digest(data))
            members.append((name, len(units) if len(known) == 1 else None))
            units += known if len(known) == 1 else ()
        return replace(file, units=tuple(units), members=tuple(members))
    except OSError:
        return file


def _name(path: Path, tree: Path) -> str:
    root = tree.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
