# SPDX-License-Identifier: MIT
"""Find the linked files of a build, and the sources of each.

A link command names objects and archives; an unknown spelling is not listed, so that the project's
own file is linked there. Objects are identified by their contents, so copies, archives and
libtool's folders need no special rules. Objects that no recorded command produced are linked as
they are.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from compiler_gym.builds import (
    EXECUTABLE,
    SHARED,
    CompilerCommand,
    Mode,
    Source,
    is_archive,
    is_elf,
    iterate_arguments,
    read_members,
)
from compiler_gym.tools.tune.builds.recording import Event

_ALONE = re.compile(
    r"no-.*|.*=.*|[LOz].+|[()EMNSXnqsx]|B\w.*|dn|dy|static|non_shared|call_shared|[on]magic|pie|shared"
    r"|(no-)?whole-archive|as-needed|(push|pop)-state|(start|end)-(group|lib)|gc-sections|build-id"
    r"|export-dynamic|strip-(all|debug)|eh-frame-hdr|(fatal|no)-warnings|(en|dis)able-new-dtags"
    r"|sort-common|relax|demangle|emit-relocs|warn-common|allow-(multiple-definition|shlib-undefined)"
)
"""The options of linkers, without dashes, after which the next argument is not their value."""
_STATIC = {"Bstatic", "static", "dn", "non_shared", "N", "n", "omagic", "nmagic"}
_DYNAMIC = {"Bdynamic", "dy", "call_shared"}
_WHOLE = {"whole-archive": True, "no-whole-archive": False}
_IN_LIBRARY = {"start-lib": True, "end-lib": False}
_LIBRARY_FOLDER, _LIBRARY_PATH = "--library-directory", "-library-path"
_ELSEWHERE = ("=", "$SYSROOT")
"""Beginnings of library folders in the system root, which only the linker knows."""

Place = tuple[int, int]
"""The number of an argument, and of its part between commas."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One source, and the command that compiled it."""

    command: CompilerCommand
    source: Source

    @property
    def path(self) -> Path:
        """The source file."""
        return self.command.cwd / self.source.name


@dataclass(frozen=True, slots=True)
class Input:
    """One file on the command line of a linker."""

    word: str
    """The name in the command."""
    path: Path
    units: tuple[Unit, ...] = ()
    """The known sources of the file."""
    is_lazy: bool = False
    """True if it is linked only as far as it is needed."""
    at: Place = (0, 0)
    members: tuple[tuple[str, int | None], ...] = ()
    """The members of an archive: the name, and the index of the source, or None if unknown."""

    @property
    def is_known(self) -> bool:
        """True if the source of every part is known."""
        return bool(self.units) and all(number is not None for _, number in self.members)

    @property
    def is_library(self) -> bool:
        """True if the linker searches for the file, such as for ``-lNAME``."""
        return self.word.startswith("-")


class _Token(NamedTuple):
    """An argument of the linker."""

    at: Place
    text: str
    is_file: bool


def list_linked_files(command: CompilerCommand) -> Iterator[Input]:
    """Yield the objects and archives that `command` names, without their sources."""
    tokens = list(_list_tokens(command))
    folders = list(_list_folders(command, tokens))
    is_static = any(word in ("-static", "--static", "-static-pie") for word in command.words)
    state, saved = (is_static, False), list[tuple[bool, bool]]()
    is_value = is_in_library = False
    found, libraries = list[Input](), dict[str, set[Path | None]]()
    for token in tokens:
        name = token.text.lstrip("-")
        if is_value:
            is_value = False
        elif token.is_file or not token.text.startswith("-"):
            path = command.cwd / token.text
            is_lazy = is_in_library or (is_archive(path) and not state[1])
            if token.is_file or path.is_file():
                found.append(Input(token.text, path, (), is_lazy, token.at))
        elif library := _library_name(token.text):
            path = _find_library(command.cwd, library, folders, is_static=state[0])
            file = library[1:] if library.startswith(":") else f"lib{library}.a"
            libraries.setdefault(file, set()).add(path)
            if path is not None and is_archive(path):
                found.append(Input(token.text, path, (), not state[1], token.at))
        elif name == "push-state":
            saved.append(state)
        elif name == "pop-state" and saved:
            state = saved.pop()
        else:
            state = (
                name in _STATIC or (state[0] and name not in _DYNAMIC),
                _WHOLE.get(name, state[1]),
            )
            is_in_library = _IN_LIBRARY.get(name, is_in_library)
            is_value = not _ALONE.fullmatch(name)
    # Ours would come first in the search, so all names of one file must lead to the same archive.
    is_clear = not any(token.text.startswith("@") for token in tokens)
    for file in found:
        if not file.is_library or (is_clear and libraries.get(file.path.name) == {file.path}):
            yield file


def _list_tokens(command: CompilerCommand) -> Iterator[_Token]:
    """Yield the arguments that the driver passes to the linker in the order of the command."""
    sources = {source.name for source in command.sources} | set(command.headers)
    for argument in iterate_arguments(command.words[1:]):
        at, word, value, *_ = argument
        if argument.is_file and word not in sources:
            yield _Token((at + 1, 0), word, is_file=True)
        elif word.startswith("-Wl,"):
            for number, part in enumerate(word.split(",")[1:]):
                yield _Token((at + 1, number), part, is_file=False)
        elif word == "-Xlinker":
            yield _Token((at + 2, 0), value, is_file=False)
        elif word.startswith("-l"):
            yield _Token((at + 1, 0), word + value, is_file=False)


def _list_folders(command: CompilerCommand, tokens: Sequence[_Token]) -> Iterator[str]:
    """Yield the folders in which a linker searches for libraries; the driver's come first."""
    for _, word, value, *_ in iterate_arguments(command.words[1:]):
        if word.startswith("-L"):
            yield value or word[2:]
        elif word.startswith(_LIBRARY_FOLDER):
            yield value or word.partition("=")[2]
    is_value = False
    for token in tokens:
        if is_value:
            yield token.text
        is_value = token.text.lstrip("-") in ("L", "library-path") and token.text.startswith("-")
        if not is_value and token.text.startswith(
            ("-L", f"{_LIBRARY_PATH}=", f"-{_LIBRARY_PATH}=")
        ):
            yield token.text[2:] if token.text.startswith("-L") else token.text.partition("=")[2]


def _library_name(text: str) -> str:
    """Return the name of the library that a linker's option names; empty if it names none."""
    option, _, name = text.partition("=")
    if option.lstrip("-") == "library":
        return name
    return text[2:] if text.startswith("-l") and not text.startswith(_LIBRARY_PATH) else ""


def _find_library(cwd: Path, name: str, folders: Sequence[str], *, is_static: bool) -> Path | None:
    """Return the file that a linker finds in `folders`; None if it looks elsewhere."""
    names = [f"lib{name}.a"] if is_static else [f"lib{name}.so", f"lib{name}.a"]
    for folder in folders:
        if folder.startswith(_ELSEWHERE):
            return None
        for file in [name[1:]] if name.startswith(":") else names:
            if (cwd / folder / file).exists():
                return cwd / folder / file
    return None


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
