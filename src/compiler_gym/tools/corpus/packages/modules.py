# SPDX-License-Identifier: MIT
"""Compile the sources of a package into modules, and link those of each of its programs."""

import hashlib
import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import CompilerGymError
from compiler_gym.files import read_regular, write_whole
from compiler_gym.sandbox import BoxReport
from compiler_gym.tools.corpus.packages.compiling import UnitCompiler
from compiler_gym.tools.corpus.packages.copyright import Licences
from compiler_gym.tools.corpus.packages.records import (
    MODULES,
    PROGRAMS,
    REFUSED,
    BuiltModule,
    LinkedProgram,
)
from compiler_gym.tools.corpus.packages.units import BuiltTree, FoundUnit
from compiler_gym.tools.tune.builds import Binary, Event, Unit, find_binaries

__all__ = ["Compiled", "Modules", "compile_units"]

_ROUNDS = 4
_UNIT_SECONDS = 300
_MOST_SAID = 4000
Run = Callable[[Sequence[str], int], BoxReport]
"""Runs a command where the package was built; the descriptor gets what it prints."""


@dataclass(frozen=True, slots=True)
class Modules:
    """What there is to compile of a package, and where the results go."""

    tree: BuiltTree
    events: Sequence[Event]
    units: Mapping[Unit, FoundUnit]
    licences: Licences
    folder: Path


@dataclass(slots=True)
class Compiled:
    """What came of it."""

    modules: tuple[BuiltModule, ...] = ()
    programs: tuple[LinkedProgram, ...] = ()
    refused: tuple[str, ...] = ()
    """Sources that the compiler refused."""


@dataclass(frozen=True, slots=True)
class _Made:
    digest: str
    data: bytes
    instructions: int
    functions: int


def compile_units(
    given: Modules, compiler: UnitCompiler, run: Run, out: Path, inside: str
) -> Compiled:
    """Return the modules and programs of a package, all written to its folder.

    `out` is where the commands leave their outputs, `inside` is what they call it.
    """
    found = list(dict.fromkeys(given.units.values()))
    data, said = _modules_by_unit(found, compiler, run, out, inside)
    if said:
        text = "\n".join(f"{unit.file}:\n{words}" for unit, words in said.items())
        write_whole(given.folder / REFUSED, text.encode(errors="replace"))
    counts = compiler.counts([data[unit] for unit in found if unit in data])
    made: dict[FoundUnit, _Made] = {}
    for unit, count in zip((unit for unit in found if unit in data), counts, strict=True):
        if count is not None:
            made[unit] = _Made(hashlib.sha256(data[unit]).hexdigest(), data[unit], *count)
    programs, owners = _collect_programs(given, made, compiler)
    modules: list[BuiltModule] = []
    for unit, module in made.items():
        write_whole(given.folder / MODULES / f"{module.digest}{compiler.suffix}", module.data)
        modules.append(
            BuiltModule(
                sha256=module.digest,
                size=len(module.data),
                file=unit.file,
                command=unit.words,
                language=unit.language,
                license=given.licences.of(unit.file) or given.licences.whole,
                instructions=module.instructions,
                functions=module.functions,
                programs=tuple(owners.get(unit, ())),
                folder=unit.folder,
            )
        )
    refused = dict.fromkeys(unit.file for unit in found if unit not in made)
    return Compiled(tuple(modules), tuple(programs), tuple(refused))


def _modules_by_unit(
    units: Sequence[FoundUnit], compiler: UnitCompiler, run: Run, out: Path, inside: str
) -> tuple[dict[FoundUnit, bytes], dict[FoundUnit, str]]:
    """Return the module of each of `units` that the compiler takes, and what it says of others.

    Flags that only another compiler knows are left out, one round after the other.
    """
    left_out: dict[FoundUnit, set[str]] = {unit: set() for unit in units}
    made: dict[FoundUnit, bytes] = {}
    refused: dict[FoundUnit, str] = {}
    waiting = list(units)
    for _ in range(_ROUNDS):
        script = [_script(at, unit, compiler, left_out[unit], inside)
                  for at, unit in enumerate(waiting)]  # fmt: skip
        text = "\n".join(script).encode("utf-8", "surrogateescape")
        (out / "compile.sh").write_bytes(text)
        with open(os.devnull, "wb") as nothing:
            run(["/bin/sh", f"{inside}/compile.sh"], nothing.fileno())
        again: list[FoundUnit] = []
        for at, unit in enumerate(waiting):
            module, said = _output_at(out / f"{at}.out"), _output_at(out / f"{at}.txt")
            if module:
                made[unit] = module
                refused.pop(unit, None)
                continue
            refused[unit] = said.decode(errors="replace")[:_MOST_SAID]
            unknown = compiler.unknown_flags(refused[unit], unit.unit)
            if unknown - left_out[unit]:
                left_out[unit] |= unknown
                again.append(unit)
        waiting = again
        if not waiting:
            break
    return made, refused


def _script(
    at: int, unit: FoundUnit, compiler: UnitCompiler, left_out: Collection[str], inside: str
) -> str:
    output = f"{inside}/{at}.out"
    words = shlex.join(compiler.command(unit.unit, output, left_out))
    cwd = shlex.quote(str(unit.unit.command.cwd))
    said = f"{inside}/{at}.txt"
    return f"cd {cwd} && timeout {_UNIT_SECONDS} {words} >{said} 2>&1 </dev/null || rm -f {output}"


def _output_at(path: Path) -> bytes:
    """Return the contents of a file that a command left, if it did, and remove it."""
    try:
        return b"" if path.is_symlink() else read_regular(path)
    except OSError:
        return b""
    finally:
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Linked:
    """A program as one module, before that is counted."""

    binary: Binary
    data: bytes
    digests: tuple[str, ...]


def _collect_programs(
    given: Modules, made: Mapping[FoundUnit, _Made], compiler: UnitCompiler
) -> tuple[list[LinkedProgram], dict[FoundUnit, list[str]]]:
    """Return the programs whose sources are all known, and those of each unit."""
    linked: list[_Linked] = []
    owners: dict[FoundUnit, list[str]] = {}
    for binary in find_binaries(given.events, given.tree.path):
        units = [given.units.get(unit) for unit in binary.units]
        known = [unit for unit in units if unit is not None and unit in made]
        if len(known) < len(units) or binary.unknown or not given.tree.holds(binary.path):
            continue
        try:
            linked.append(_as_one(given, binary, made, compiler))
        except CompilerGymError:
            continue  # two of its sources do not fit together as modules
        for unit in dict.fromkeys(known):
            owners.setdefault(unit, []).append(binary.name)
    counts = compiler.counts([one.data for one in linked])
    programs = [
        _make_program(given, one, count, compiler.suffix)
        for one, count in zip(linked, counts, strict=True)
        if count is not None
    ]
    return programs, owners


def _as_one(
    given: Modules, binary: Binary, made: Mapping[FoundUnit, _Made], compiler: UnitCompiler
) -> _Linked:
    parts: dict[str, bytes] = {}
    archives: list[list[bytes]] = []
    digests: dict[str, None] = {}
    for input in binary.inputs:
        modules = [made[given.units[unit]] for unit in input.units]
        digests.update((module.digest, None) for module in modules)
        if input.is_lazy:
            archives.append([module.data for module in modules])
        else:
            parts.update((module.digest, module.data) for module in modules)
    data = compiler.link_modules(list(parts.values()), archives, is_shared=binary.is_shared)
    return _Linked(binary, data, tuple(digests))


def _make_program(
    given: Modules, one: _Linked, count: tuple[int, int], suffix: str
) -> LinkedProgram:
    digest = hashlib.sha256(one.data).hexdigest()
    write_whole(given.folder / PROGRAMS / f"{digest}{suffix}", one.data)
    return LinkedProgram(
        name=one.binary.name,
        sha256=digest,
        size=len(one.data),
        instructions=count[0],
        functions=count[1],
        modules=one.digests,
        libraries=_left_to_link(given.tree, one.binary),
        is_shared=one.binary.is_shared,
    )


def _left_to_link(tree: BuiltTree, binary: Binary) -> tuple[str, ...]:
    """Return what the linker needs beside the module, in its order."""
    known = {input.word for input in binary.inputs if input.units}
    words = [word for word in binary.command.link_words if word not in known]
    kept = [word for word in words if not word.startswith(("-rpath", "-Wl,-rpath"))]
    return tuple(tree.shorten_word(word) for word in kept)
