# SPDX-License-Identifier: MIT
"""A tuned build as a file: which decisions for which binary, made of which sources.

TOML, so that people can read, change and compare it. The version says how to read it; a newer
one is refused, never guessed at.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from compiler_gym.errors import PlanError
from compiler_gym.files import hash_file, write_whole
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.measure import Measure

__all__ = [
    "PLAN_FILE",
    "VERSION",
    "BinaryPlan",
    "BuildPlan",
    "SourceFile",
    "list_sources",
    "write_plan",
]

PLAN_FILE = "tuned.toml"
"""What `tune` calls it, in the folder of what it makes."""
VERSION = 1
"""Of the format."""
_REQUIRED = ("name", "method")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One source of a binary, as it was when the plan was made."""

    path: str
    """From the root of the project."""
    sha256: str
    """Of the file."""


@dataclass(frozen=True, slots=True)
class BinaryPlan:
    """The decisions for one linked file."""

    name: str
    """Where the build puts it, from the root of the project."""
    method: str
    """How it is made: the compiler's own word for it."""
    passes: str = ""
    """What optimises it, as the compiler writes it."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """Options of the code generator, by name."""
    flags: tuple[str, ...] = ()
    """What the compiler is told besides."""
    linker: tuple[str, ...] = ()
    """What the linker is told besides."""
    scope: str = ""
    """What makes local, before any pass, what nothing outside can name, as the compiler writes
    it; empty where every name stays visible."""
    sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    """Bytes of ``text``, ``loaded`` and ``total``, as each rival and the tuned build make it."""
    sources: tuple[SourceFile, ...] = ()
    profile: str = ""
    """What runs of the program said of its branches and calls: a file of the compiler's, from
    the folder of the plan; empty where nobody ran it."""
    after: tuple[str, ...] = ()
    """What is done to the linked file: a word of the compiler's each."""
    after_profile: str = ""
    """What runs of the linked file said, for what is done to it, as `profile`."""

    def list_files(self) -> dict[str, str]:
        """Return the files that it is made with, by the name of their field."""
        files = {"profile": self.profile, "after_profile": self.after_profile}
        return {name: file for name, file in files.items() if file}

    def decisions(self) -> tuple[str, ...]:
        """Return everything that was decided, by name: what is left out is the default."""
        flags = (f"flag {flag}" for flag in self.flags)
        options = (f"option {name}={value}" for name, value in self.options.items())
        linker = (f"linker {flag}" for flag in self.linker)
        profile = ("profile",) if self.profile else ()
        passes = ("passes",) if self.passes else ()
        after = (f"after {name}" for name in self.after)
        return (*passes, *profile, *options, *flags, *linker, *after)

    def only(self, decisions: Collection[str]) -> "BinaryPlan":
        """Return the plan with no other than `decisions`."""
        after = tuple(name for name in self.after if f"after {name}" in decisions)
        return replace(
            self,
            after=after,
            after_profile=self.after_profile if after else "",
            passes=self.passes if "passes" in decisions else "",
            profile=self.profile if "profile" in decisions else "",
            options={
                name: value
                for name, value in self.options.items()
                if f"option {name}={value}" in decisions
            },
            flags=tuple(flag for flag in self.flags if f"flag {flag}" in decisions),
            linker=tuple(flag for flag in self.linker if f"linker {flag}" in decisions),
        )

    def without(self, decision: str) -> "BinaryPlan":
        """Return the plan with every other decision."""
        return self.only([other for other in self.decisions() if other != decision])


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """A tuned build."""

    compiler: str
    """Which compiler it is for, with its version."""
    goal: str
    """``size``, ``speed`` or ``both``."""
    made_by: str
    """The version of this library."""
    binaries: tuple[BinaryPlan, ...]
    version: int = VERSION
    measure: str = Measure.LOADED
    """Which bytes a search for size counted."""

    def binary(self, name: str) -> BinaryPlan | None:
        """Return the plan for the linked file `name`, by its whole name or its last part."""
        for whole in (True, False):
            for binary in self.binaries:
                if (binary.name if whole else Path(binary.name).name) == (
                    name if whole else Path(name).name
                ):
                    return binary
        return None


def list_sources(binary: Binary, units: Iterable[Unit]) -> tuple[SourceFile, ...]:
    """Return the sources of `units`, named as in `binary`, as they are now."""
    return tuple(SourceFile(binary.name_unit(unit), hash_file(unit.path)) for unit in units)


def write_plan(path: Path, plan: BuildPlan) -> Path:
    """Write `plan` to the file `path`, whole or not at all; raise `PlanError`."""
    try:
        write_whole(path, tomli_w.dumps(_plain(plan), multiline_strings=True).encode())
    except OSError as error:
        raise PlanError(f"cannot write {path}: {error.strerror}: name another place") from error
    return path


def _plain(plan: BuildPlan) -> dict[str, Any]:
    """Return `plan` as it is written: the version first, and nothing that is empty."""
    document: dict[str, Any] = msgspec.to_builtins(plan)
    binaries: list[dict[str, Any]] = document.pop("binaries")
    written = [
        {k: v for k, v in binary.items() if k in _REQUIRED or v not in ("", [], (), {})}
        for binary in binaries
    ]
    return {"version": document.pop("version"), **document, "binaries": written}
