# SPDX-License-Identifier: MIT
"""Find the sources that a package's build compiled, from the recorded commands.

An untrusted build wrote the record: files outside the package's own tree are not read.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.builds import CompilerCommand
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.tools.tune.builds import Event, Recording, Unit, list_objects

__all__ = ["BuiltTree", "FoundUnit"]

_TRIAL_PARTS = {"CMakeFiles", "meson-private", "CMakeScratch", ".cmake"}
_PIC = {"-fPIC", "-DPIC", "-fPIE", "-fpic", "-fpie", "-pie", "-prefer-pic"}


@dataclass(frozen=True, slots=True)
class FoundUnit:
    """One source of a package, which becomes one module."""

    unit: Unit
    """The unit, with paths as the build sees them."""
    file: str
    """The source file, relative to the tree."""
    folder: str
    """The command's working directory, relative to the tree."""
    words: tuple[str, ...]
    """The command, without machine-specific paths."""

    @property
    def language(self) -> str:
        """``c`` or ``c++``."""
        return "c++" if self.unit.command.is_cxx else "c"


@dataclass(frozen=True, slots=True)
class BuiltTree:
    """The tree of a package after its build, with its paths inside and outside the sandbox."""

    inside: str
    """The path of the tree inside the sandbox."""
    path: Path
    """The path of the tree on this machine."""
    root: Path
    """The root folder of the system it was built in."""

    def events(self, recording: Recording) -> Iterator[Event]:
        """Yield the build's commands with outside paths, except those that use files elsewhere."""
        if not recording.journal.is_file() or recording.journal.is_symlink():
            return
        for event in recording.events():
            words = tuple(self._outside(word) for word in event.words)
            cwd = Path(self._outside(str(event.cwd)))
            is_safe = not any(word.startswith("@") for word in words) and self.holds(cwd)
            try:
                is_safe = is_safe and self._is_readable(CompilerCommand.parse(words, cwd))
            except (BenchmarkInitError, ValueError):
                is_safe = False
            outputs = {self._outside(name): digest for name, digest in event.made.items()}
            outputs = {name: digest for name, digest in outputs.items() if self.holds(cwd / name)}
            if is_safe and outputs:
                yield Event(words, cwd, outputs)

    def units(self, events: Sequence[Event]) -> tuple[dict[Unit, FoundUnit], list[str]]:
        """Return every compiled source, and the names of sources that no longer exist.

        The keys have outside paths. Two compilations of a source that differ only in
        position-independent code count as one, with the first command. Sources that only a
        configure step compiled are skipped.
        """
        units_by_source: dict[Unit, FoundUnit] = {}
        first: dict[tuple[str, tuple[str, ...]], FoundUnit] = {}
        missing: dict[str, None] = {}
        for event in events:
            command = CompilerCommand.parse(event.words, event.cwd)
            units = [unit for _, unit in list_objects(command)]
            units = units or [Unit(command, source) for source in command.sources]
            for unit in units:
                name = os.path.relpath(os.path.normpath(unit.path), self.path)
                if unit.source.name == "-" or _is_trial(name):
                    continue
                if not (unit.path.is_file() and self.holds(unit.path)):
                    missing[name] = None
                    continue
                flags = tuple(word for word in unit.command.flags if word not in _PIC)
                entry = first.setdefault((name, flags), self._find_unit(unit, name))
                units_by_source[unit] = entry
        return units_by_source, list(missing)

    def holds(self, path: Path) -> bool:
        """Return whether `path` is inside the tree, after resolving links."""
        try:
            return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.path))
        except (OSError, ValueError):
            return False

    def shorten_word(self, word: str) -> str:
        """Return a command argument with the tree written as ``.``, relative to the system."""
        word = word.replace(str(self.path), ".").replace(self.inside, ".")
        return word.replace(str(self.root), "") if self.root != Path("/") else word

    def _find_unit(self, unit: Unit, name: str) -> FoundUnit:
        arguments = unit.command.words
        inside = [self._inside(word) for word in arguments]
        command = CompilerCommand.parse(inside, self._inside(str(unit.command.cwd)))
        source = replace(unit.source, name=self._inside(unit.source.name))
        folder = os.path.relpath(unit.command.cwd, self.path)
        shown = tuple(self.shorten_word(word) for word in (Path(arguments[0]).name, *arguments[1:]))
        return FoundUnit(Unit(command, source), name, folder, shown)

    def _outside(self, word: str) -> str:
        if word.startswith("/") and not word.startswith("/run/") and self.root != Path("/"):
            return f"{self.root}{word}"
        return word.replace(self.inside, str(self.path))

    def _inside(self, word: str) -> str:
        word = word.replace(str(self.path), self.inside)
        return word.removeprefix(str(self.root)) if self.root != Path("/") else word

    def _is_readable(self, command: CompilerCommand) -> bool:
        """Return whether all objects that `command` links are files in the tree or its system."""
        folders = [os.path.realpath(self.path), os.path.realpath(self.root)]
        for name in command.objects:
            real = os.path.realpath(command.cwd / name)
            is_inside = any(Path(real).is_relative_to(folder) for folder in folders)
            if os.path.exists(real) and not (is_inside and os.path.isfile(real)):
                return False
        return True


def _is_trial(name: str) -> bool:
    """Return whether a source is a configure step's test of the compiler."""
    parts = name.split("/")
    return (
        parts[0] == ".."
        or parts[-1].startswith(("conftest", "testfile.c", "sanitycheckc"))
        or bool(_TRIAL_PARTS.intersection(parts))
    )
