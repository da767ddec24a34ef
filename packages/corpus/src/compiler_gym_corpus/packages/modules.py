# SPDX-License-Identifier: MIT
"""Compile the sources of a package to modules, and link the modules of each program."""

import hashlib
import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import CompilerGymError
from compiler_gym.files import read_regular, write_whole
from compiler_gym.sandbox import BoxReport
from compiler_gym.tools.tune.builds import Binary, Event, Unit, find_binaries
from compiler_gym_corpus.packages.compiling import UnitCompiler
from compiler_gym_corpus.packages.copyright import Licences
from compiler_gym_corpus.packages.records import (
    MODULES,
    PROGRAMS,
    REFUSED,
    BuiltModule,
    LinkedProgram,
)
from compiler_gym_corpus.packages.units import BuiltTree, FoundUnit

__all__ = ["Compiled", "Modules", "compile_units"]

_ROUNDS = 4
_UNIT_SECONDS = 300
_MOST_ERROR_BYTES = 4000
Run = Callable[[Sequence[str], int], BoxReport]
"""A function that runs a command in the build system, with output to a file descriptor."""


@dataclass(frozen=True, slots=True)
class Modules:
    """The sources of a built package and the folder for its results."""

    tree: BuiltTree
    events: Sequence[Event]
    units: Mapping[Unit, FoundUnit]
    licences: Licences
    folder: Path


@dataclass(slots=True)
class Compiled:
    """The modules and programs compiled from a package."""

    modules: tuple[BuiltModule, ...] = ()
    programs: tuple[LinkedProgram, ...] = ()
    refused: tuple[str, ...] = ()
    """The sources that the compiler rejected."""


@dataclass(frozen=True, slots=True)
class _Module:
    digest: str
    data: bytes
    instructions: int
    functions: int


def compile_units(
    given: Modules, compiler: UnitCompiler, run: Run, out: Path, inside: str
) -> Compiled:
    """Compile and link a package, write the results to its folder, and return them.

    `out` is the output folder of the commands, which see it as `inside`.
    """
    units = list(dict.fromkeys(given.units.values()))
    data, errors = _modules_by_unit(units, compiler, run, out, inside)
    if errors:
        text = "\n".join(f"{unit.file}:\n{error}" for unit, error in errors.items())
        write_whole(given.folder / REFUSED, text.encode(errors="replace"))
    counts = compiler.counts([data[unit] for unit in units if unit in data])
    by_unit: dict[FoundUnit, _Module] = {}
    for unit, count in zip((unit for unit in units if unit in data), counts, strict=True):
        if count is not None:
            by_unit[unit] = _Module(hashlib.sha256(data[unit]).hexdigest(), data[unit], *count)
    programs, owners = _collect_programs(given, by_unit, compiler)
    modules: list[BuiltModule] = []
    for unit, module in by_unit.items():
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
    refused = dict.fromkeys(unit.file for unit in units if unit not in by_unit)
    return Compiled(tuple(modules), tuple(programs), tuple(refused))


def _modules_by_unit(
    units: Sequence[FoundUnit], compiler: UnitCompiler, run: Run, out: Path, inside: str
) -> tuple[dict[FoundUnit, bytes], dict[FoundUnit, str]]:
    """Return the modules of the units that compile, and the errors of the others.

    Units that fail because of unknown flags are compiled again without these, several times.
    """
    dropped: dict[FoundUnit, set[str]] = {unit: set() for unit in units}
    modules: dict[FoundUnit, bytes] = {}
    errors: dict[FoundUnit, str] = {}
    pending = list(units)
    for _ in range(_ROUNDS):
        script = [_script(index, unit, compiler, dropped[unit], inside)
                  for index, unit in enumerate(pending)]  # fmt: skip
        text = "\n".join(script).encode("utf-8", "surrogateescape")
        (out / "compile.sh").write_bytes(text)
        with open(os.devnull, "wb") as nothing:
            run(["/bin/sh", f"{inside}/compile.sh"], nothing.fileno())
        again: list[FoundUnit] = []
        for index, unit in enumerate(pending):
            module = _take_output(out / f"{index}.out")
            message = _take_output(out / f"{index}.txt")
            if module:
                modules[unit] = module
                errors.pop(unit, None)
                continue
            errors[unit] = message.decode(errors="replace")[:_MOST_ERROR_BYTES]
            unknown = compiler.unknown_flags(errors[unit], unit.unit)
            if unknown - dropped[unit]:
                dropped[unit] |= unknown
                again.append(unit)
        pending = again
        if not pending:
            break
    return modules, errors


def _script(
    index: int, unit: FoundUnit, compiler: UnitCompiler, dropped: Collection[str], inside: str
) -> str:
    output, log = f"{inside}/{index}.out", f"{inside}/{index}.txt"
    command = shlex.join(compiler.command(unit.unit, output, dropped))
    cwd = shlex.quote(str(unit.unit.command.cwd))
    return f"cd {cwd} && timeout {_UNIT_SECONDS} {command} >{log} 2>&1 </dev/null || rm -f {output}"


def _take_output(path: Path) -> bytes:
    """Return the contents of a command's output file, or nothing, and remove the file."""
    try:
        return b"" if path.is_symlink() else read_regular(path)
    except OSError:
        return b""
    finally:
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Linked:
    """A program as one module, without instruction counts."""

    binary: Binary
    data: bytes
    digests: tuple[str, ...]


def _collect_programs(
    package: Modules, modules: Mapping[FoundUnit, _Module], compiler: UnitCompiler
) -> tuple[list[LinkedProgram], dict[FoundUnit, list[str]]]:
    """Return the programs all of whose sources compiled, and the programs of each unit."""
    linked: list[_Linked] = []
    owners: dict[FoundUnit, list[str]] = {}
    for binary in find_binaries(package.events, package.tree.path):
        units = [package.units.get(unit) for unit in binary.units]
        compiled = [unit for unit in units if unit is not None and unit in modules]
        if len(compiled) < len(units) or binary.unknown or not package.tree.holds(binary.path):
            continue
        try:
            linked.append(_link_modules(package, binary, modules, compiler))
        except CompilerGymError:
            continue  # some of its modules are incompatible
        for unit in dict.fromkeys(compiled):
            owners.setdefault(unit, []).append(binary.name)
    counts = compiler.counts([program.data for program in linked])
    programs = [
        _make_program(package, program, count, compiler.suffix)
        for program, count in zip(linked, counts, strict=True)
        if count is not None
    ]
    return programs, owners


def _link_modules(
    package: Modules, binary: Binary, by_unit: Mapping[FoundUnit, _Module], compiler: UnitCompiler
) -> _Linked:
    parts: dict[str, bytes] = {}
    archives: list[list[bytes]] = []
    digests: dict[str, None] = {}
    for input in binary.inputs:
        modules = [by_unit[package.units[unit]] for unit in input.units]
        digests.update((module.digest, None) for module in modules)
        if input.is_lazy:
            archives.append([module.data for module in modules])
        else:
            parts.update((module.digest, module.data) for module in modules)
    data = compiler.link_modules(list(parts.values()), archives, is_shared=binary.is_shared)
    return _Linked(binary, data, tuple(digests))


def _make_program(
    package: Modules, program: _Linked, count: tuple[int, int], suffix: str
) -> LinkedProgram:
    digest = hashlib.sha256(program.data).hexdigest()
    write_whole(package.folder / PROGRAMS / f"{digest}{suffix}", program.data)
    return LinkedProgram(
        name=program.binary.name,
        sha256=digest,
        size=len(program.data),
        instructions=count[0],
        functions=count[1],
        modules=program.digests,
        libraries=_libraries(package.tree, program.binary),
        is_shared=program.binary.is_shared,
    )


def _libraries(tree: BuiltTree, binary: Binary) -> tuple[str, ...]:
    """Return the linker arguments besides the modules, in order."""
    objects = {input.word for input in binary.inputs if input.units}
    arguments = [word for word in binary.command.link_words if word not in objects]
    arguments = [word for word in arguments if not word.startswith(("-rpath", "-Wl,-rpath"))]
    return tuple(tree.shorten_word(word) for word in arguments)
