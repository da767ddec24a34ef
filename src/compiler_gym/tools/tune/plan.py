# SPDX-License-Identifier: MIT
"""Plan files: the decisions for each binary of a tuned build, and its sources.

They are TOML, so that people can read, edit and compare them. A file with an unknown format version
is refused.
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
from compiler_gym.tools.tune.goal import Measure

PLAN_FILE = "tuned.toml"
"""The name of the plan in the output folder of `tune`."""
VERSION = 1
"""The version of the file format."""
_REQUIRED = ("name", "method")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One source of a binary, as it was when the plan was made."""

    path: str
    """The path from the root of the project."""
    sha256: str
    """The SHA-256 of its contents."""


@dataclass(frozen=True, slots=True)
class BinaryPlan:
    """The decisions for one linked file."""

    name: str
    """The path that the build writes, from the root of the project."""
    method: str
    """The build method, as the compiler's tuner names it."""
    passes: str = ""
    """The optimisation passes, in the compiler's syntax."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """Code generator options, by name."""
    flags: tuple[str, ...] = ()
    """Additional compiler flags."""
    linker: tuple[str, ...] = ()
    """Additional linker flags."""
    plugin: tuple[str, ...] = ()
    """The plug-in of the compiler with its version, and the rules of the plug-in to turn off, each
    with a minus sign."""
    scope: str = ""
    """The pass that makes unreferenced symbols local before the others, in the compiler's syntax;
    empty if every symbol stays visible."""
    sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    """Bytes of ``text``, ``loaded`` and ``total`` for each rival and the tuned build."""
    sources: tuple[SourceFile, ...] = ()
    profile: str = ""
    """The compiler's profile of branches and calls, a file relative to the folder of the plan;
    empty without a training run."""

    def decisions(self) -> tuple[str, ...]:
        """Return the names of all decisions; everything else stays at its default."""
        flags = (f"flag {flag}" for flag in self.flags)
        options = (f"option {name}={value}" for name, value in self.options.items())
        linker = (f"linker {flag}" for flag in self.linker)
        profile = ("profile",) if self.profile else ()
        passes = ("passes",) if self.passes else ()
        plugin = (f"plugin {name}" for name in self.plugin)
        return (*passes, *profile, *options, *flags, *linker, *plugin)

    def only(self, decisions: Collection[str]) -> "BinaryPlan":
        """Return the plan with only `decisions`."""
        return replace(
            self,
            passes=self.passes if "passes" in decisions else "",
            profile=self.profile if "profile" in decisions else "",
            options={
                name: value
                for name, value in self.options.items()
                if f"option {name}={value}" in decisions
            },
            flags=tuple(flag for flag in self.flags if f"flag {flag}" in decisions),
            linker=tuple(flag for flag in self.linker if f"linker {flag}" in decisions),
            plugin=tuple(name for name in self.plugin if f"plugin {name}" in decisions),
        )

    def without(self, decision: str) -> "BinaryPlan":
        """Return the plan without `decision`."""
        return self.only([other for other in self.decisions() if other != decision])


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """A tuned build."""

    compiler: str
    """The compiler and its version."""
    goal: str
    """``size`` or ``speed``."""
    made_by: str
    """The version of this library."""
    binaries: tuple[BinaryPlan, ...]
    version: int = VERSION
    measure: str = Measure.LOADED
    """The size that was minimised."""

    def binary(self, name: str) -> BinaryPlan | None:
        """Return the plan for the linked file `name`, matched by full path or else by base name."""
        for is_full in (True, False):
            for binary in self.binaries:
                if (binary.name if is_full else Path(binary.name).name) == (
                    name if is_full else Path(name).name
                ):
                    return binary
        return None


def list_sources(binary: Binary, units: Iterable[Unit]) -> tuple[SourceFile, ...]:
    """Return the current sources of `units`, with their paths in `binary`."""
    return tuple(SourceFile(binary.name_unit(unit), hash_file(unit.path)) for unit in units)


def write_plan(path: Path, plan: BuildPlan, tables: Mapping[str, Any] | None = None) -> Path:
    """Write `plan` to the file `path` atomically, with more `tables`.

    Raises `PlanError` on failure.
    """
    try:
        document = {**_plain(plan), **(tables or {})}
        write_whole(path, tomli_w.dumps(document, multiline_strings=True).encode())
    except OSError as error:
        raise PlanError(f"cannot write {path}: {error.strerror}: choose another path") from error
    return path


def _plain(plan: BuildPlan) -> dict[str, Any]:
    """Return `plan` as it is written: the version first, and no empty values."""
    document: dict[str, Any] = msgspec.to_builtins(plan)
    binaries: list[dict[str, Any]] = document.pop("binaries")
    tables = [
        {k: v for k, v in binary.items() if k in _REQUIRED or v not in ("", [], (), {})}
        for binary in binaries
    ]
    return {"version": document.pop("version"), **document, "binaries": tables}


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of one decision: a plain sentence, and a link to its documentation."""

    sentence: str
    """The sentence; empty if the decision is unknown."""
    link: str = ""
