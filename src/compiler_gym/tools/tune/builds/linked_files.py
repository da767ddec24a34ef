# SPDX-License-Identifier: MIT
"""Find the objects and archives that a link command names, and where it names them.

An unknown spelling is not listed, so that the project's own file is linked there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from compiler_gym.builds import CompilerCommand, Source, is_archive, iterate_arguments

__all__ = ["Input", "Place", "Unit", "list_linked_files"]

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
            state = (name in _STATIC or (state[0] and name not in _DYNAMIC),
                     _WHOLE.get(name, state[1]))  # fmt: skip
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
