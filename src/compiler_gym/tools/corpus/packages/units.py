# SPDX-License-Identifier: MIT
"""Which sources did the build of a package compile, and of which is each linked file made?

The journal was written by a stranger's build: what it names outside of the package's own folder
is not read.
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
    """As the build sees it."""
    file: str
    """The source, relative to the tree."""
    folder: str
    """Where its command ran, relative to the tree."""
    words: tuple[str, ...]
    """The command without paths of the machine."""

    @property
    def language(self) -> str:
        """``c`` or ``c++``."""
        return "c++" if self.unit.command.is_cxx else "c"


@dataclass(frozen=True, slots=True)
class BuiltTree:
    """The tree of a package after its build, of which two names are known."""

    inside: str
    """What the build calls it."""
    path: Path
    """Where it lies."""
    root: Path
    """The system that it was built in."""

    def events(self, recording: Recording) -> Iterator[Event]:
        """Yield what the build ran as if it had run outside, less what leads elsewhere."""
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
            made = {self._outside(name): digest for name, digest in event.made.items()}
            made = {name: digest for name, digest in made.items() if self.holds(cwd / name)}
            if is_safe and made:
                yield Event(words, cwd, made)

    def units(self, events: Sequence[Event]) -> tuple[dict[Unit, FoundUnit], list[str]]:
        """Return every source that was compiled, and those that are gone, by their names.

        The units are as they are outside. One that was compiled twice, the same but for position
        independent code, is one: its first command counts. What only a configure step compiled
        is left out.
        """
        found: dict[Unit, FoundUnit] = {}
        first: dict[tuple[str, tuple[str, ...]], FoundUnit] = {}
        gone: dict[str, None] = {}
        for event in events:
            command = CompilerCommand.parse(event.words, event.cwd)
            units = [unit for _, unit in list_objects(command)]
            units = units or [Unit(command, source) for source in command.sources]
            for unit in units:
                name = os.path.relpath(os.path.normpath(unit.path), self.path)
                if unit.source.name == "-" or _is_trial(name):
                    continue
                if not (unit.path.is_file() and self.holds(unit.path)):
                    gone[name] = None
                    continue
                flags = tuple(word for word in unit.command.flags if word not in _PIC)
                found[unit] = first.setdefault((name, flags), self._find_unit(unit, name))
        return found, list(gone)

    def holds(self, path: Path) -> bool:
        """Return whether `path` lies in the tree, links followed."""
        try:
            return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.path))
        except (OSError, ValueError):
            return False

    def shorten_word(self, word: str) -> str:
        """Return a word of a command with the tree as ``.``, and the system's paths as they are."""
        word = word.replace(str(self.path), ".").replace(self.inside, ".")
        return word.replace(str(self.root), "") if self.root != Path("/") else word

    def _find_unit(self, unit: Unit, name: str) -> FoundUnit:
        words = unit.command.words
        own = [self._inside(word) for word in words]
        command = CompilerCommand.parse(own, self._inside(str(unit.command.cwd)))
        source = replace(unit.source, name=self._inside(unit.source.name))
        folder = os.path.relpath(unit.command.cwd, self.path)
        shown = tuple(self.shorten_word(word) for word in (Path(words[0]).name, *words[1:]))
        return FoundUnit(Unit(command, source), name, folder, shown)

    def _outside(self, word: str) -> str:
        if word.startswith("/") and not word.startswith("/run/") and self.root != Path("/"):
            return f"{self.root}{word}"
        return word.replace(self.inside, str(self.path))

    def _inside(self, word: str) -> str:
        word = word.replace(str(self.path), self.inside)
        return word.removeprefix(str(self.root)) if self.root != Path("/") else word

    def _is_readable(self, command: CompilerCommand) -> bool:
        """Return whether all objects that `command` links are files of the tree or its system."""
        places = [os.path.realpath(self.path), os.path.realpath(self.root)]
        for name in command.objects:
            real = os.path.realpath(command.cwd / name)
            is_near = any(Path(real).is_relative_to(place) for place in places)
            if os.path.exists(real) and not (is_near and os.path.isfile(real)):
                return False
        return True


def _is_trial(name: str) -> bool:
    """Return whether a source is one with which a configure step tries the compiler."""
    parts = name.split("/")
    return (
        parts[0] == ".."
        or parts[-1].startswith(("conftest", "testfile.c", "sanitycheckc"))
        or bool(_TRIAL_PARTS.intersection(parts))
    )
