# SPDX-License-Identifier: MIT
"""Compile all sources of a binary as one module, and build the binary of a plan from it.

The linker itself lists the members of archives that the build's own link contains, because it alone
knows the rules. A source that it does not list exactly once stays outside the module. A build runs
passes on the module, generates code with clang, and links. Optimised modules and their objects are
kept, so a plan that differs only in linker options is only linked again, and one that differs only
in code generator options runs no passes again.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from compiler_gym.builds import (
    RELOCATABLE,
    is_archive,
    is_elf,
    read_exported_symbols,
    read_needed_symbols,
)
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.toolchain import clang_command, run_engine
from compiler_gym.errors import CompilerGymError, PlanError
from compiler_gym.files import scratch_directory
from compiler_gym.registration import make
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Binary, Unit, exchange_files
from compiler_gym.tools.tune.builds import run_command as run
from compiler_gym.tools.tune.llvm.deciding import DEFAULT_PASSES
from compiler_gym.tools.tune.llvm.flags import SMALL
from compiler_gym.tools.tune.llvm.linker import QUIET, Linker, compile_words, link_words
from compiler_gym.tools.tune.llvm.plugin import (
    PLUGIN,
    LinkCommand,
    load_words,
    plugin_environment,
    plugin_hash,
)
from compiler_gym.tools.tune.llvm.rewrites import read_counts

FRONT_END = ("-Oz", "-g0", "-fno-ident", "-Xclang", "-disable-llvm-passes", "-emit-llvm")
"""Flags that stop clang after the front end: unoptimised IR with the attributes of -Oz."""

_BINDING = re.compile(
    r"(^|,)(-[TRuey]|--?(wrap|defsym|version-script|dynamic-list|symbol-ordering|undefined|entry|"
    r"require-defined|init|fini|script|default-script|retain-symbols|just-symbols|keep-unique)|@)"
)
"""Linker options that refer to symbols: with any of these, all symbols stay visible."""
_MEMBER = re.compile(r"(.+)\((.+)\)")
"""A member of an archive, as linkers print it."""

_Name = tuple[Path, str]
"""A linked file, and its member if it is an archive."""
SECTIONS = ("-ffunction-sections", "-fdata-sections")
"""Allow the linker to discard and fold individual functions."""
_NO_OPTION = "relocation-model"
"""Code generator option that the driver's own flags already set."""
_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Whole:
    """A binary as one module."""

    module: bytes
    """Bitcode as the front end produces it."""
    units: tuple[Unit, ...]
    """The linked sources, in link order."""
    keep: tuple[str, ...] | None
    """The symbols that must stay visible; None means all of them."""
    flags: tuple[str, ...]
    """Additional front-end flags."""
    _again: Callable[[tuple[str, ...]], "Whole"]
    _others: dict[tuple[str, ...], "Whole"] = field(default_factory=dict[tuple[str, ...], "Whole"])
    _lock: Lock = field(default_factory=Lock)

    def with_flags(self, flags: tuple[str, ...]) -> "Whole":
        """Return the same program compiled with other front-end `flags`."""
        if flags == self.flags:
            return self
        with self._lock:
            if flags not in self._others:
                self._others[flags] = self._again(flags)
            return self._others[flags]

    def benchmark(self) -> Benchmark:
        """Return the module as a benchmark for an episode."""
        digest = hashlib.sha256(self.module).hexdigest()[:16]
        scope = "" if self.keep is None else "?scope=program"
        names = f"&keep={','.join(self.keep)}" if self.keep else ""
        return Benchmark.from_file_contents(
            f"benchmark://user-v0/{digest}{scope}{names}", self.module
        )


def make_whole(binary: Binary, reference: Path, *, jobs: int, flags: tuple[str, ...] = ()) -> Whole:
    """Return all of `binary` as one module; `reference` is any linked build of the binary.

    `flags` are passed to the front end after the project's own flags.
    """
    link = _read_link(binary)
    return _make_whole(binary, reference, link, jobs, flags)


def _make_whole(
    binary: Binary, reference: Path, link: "_Link", jobs: int, flags: tuple[str, ...]
) -> Whole:
    def compile_unit(unit: Unit) -> bytes:
        return _front_end(unit, flags)

    with ThreadPoolExecutor(jobs) as pool:
        parts = list(pool.map(compile_unit, link.units))
    module = parts[0] if len(parts) == 1 else run_engine("link", parts, timeout=600)[0]
    return Whole(
        module,
        link.units,
        _find_visible(binary, reference, link.needed, module),
        flags,
        lambda other: _make_whole(binary, reference, link, jobs, other),
    )


def _front_end(unit: Unit, flags: Sequence[str]) -> bytes:
    with scratch_directory("tuning") as folder:
        output = Path(folder) / "unit.bc"
        run(compile_words(unit, (*FRONT_END, *flags), output), unit.command.cwd)
        return output.read_bytes()


@dataclass(frozen=True, slots=True)
class _Link:
    """The contents of the build's own link."""

    units: tuple[Unit, ...]
    """The sources that are linked exactly once, in link order."""
    needed: frozenset[str]
    """The symbols that all other linked objects need."""


def _read_link(binary: Binary) -> _Link:
    """Link the build's own files, and return what the linker lists."""
    own = {input.units[0] for input in binary.inputs if input.word in _sources(binary)}
    with scratch_directory("linking") as name:
        folder = Path(name).resolve()
        objects = {unit: folder / f"{number}.o" for number, unit in enumerate(own)}
        for unit, path in objects.items():
            run(compile_words(unit, (), path), unit.command.cwd)
        exchange = exchange_files(binary, objects, folder)
        command = link_words(binary, exchange, ["-Wl,--trace"], folder / "linked")
        linked = [
            _read_name(line, binary.command.cwd)
            for line in run(command, binary.command.cwd).splitlines()
        ]
    names = _list_names(binary, objects)
    units = _choose_units(names, linked)
    return _Link(units, frozenset(_list_needed(names, linked, set(units))))


def _sources(binary: Binary) -> set[str]:
    return {source.name for source in binary.command.sources}


def _read_name(line: str, cwd: Path) -> _Name:
    match = _MEMBER.fullmatch(line)
    name, member = match.groups() if match else (line, "")
    return (cwd / name).resolve(), member


def _list_names(binary: Binary, objects: Mapping[Unit, Path]) -> dict[_Name, list[Unit | None]]:
    """Return the sources of each input by its name; members of one name are together."""
    names = dict[_Name, list[Unit | None]]()
    for path, input in {input.path: input for input in binary.inputs}.items():
        if not input.members:
            path = objects.get(input.units[0], path) if input.units else path
            names[path.resolve(), ""] = [*input.units] or [None]
        for member, number in input.members:
            unit = None if number is None else input.units[number]
            names.setdefault((path.resolve(), Path(member).name), []).append(unit)
    return names


def _choose_units(
    names: Mapping[_Name, Sequence[Unit | None]], linked: Sequence[_Name]
) -> tuple[Unit, ...]:
    """Return the sources that are linked once; those of one object only together."""
    counts, times = Counter(linked), Counter[Unit]()
    for name, units in names.items():
        expected = len(units) if name[1] else 1
        for unit in units:
            if unit is not None and counts[name]:
                times[unit] += 1 if counts[name] == expected else 2
    chosen = {unit for unit, count in times.items() if count == 1}
    objects = [{*units} for (_, member), units in names.items() if not member]
    while split := [units for units in objects if units & chosen and units - chosen]:
        chosen.difference_update(*split)
    order = (unit for name in linked for unit in names.get(name, ()) if unit in chosen)
    return tuple(dict.fromkeys(filter(None, order)))


def _list_needed(
    names: Mapping[_Name, Sequence[Unit | None]], linked: Sequence[_Name], units: Set[Unit]
) -> set[str]:
    """Return the symbols that objects outside of the module may need."""
    outside = dict[Path, set[str]]()
    for path, member in (*linked, *names):
        if not set(names.get((path, member), [None])) <= units:
            outside.setdefault(path, set()).add(member)
    return set[str]().union(
        *(
            read_needed_symbols(path, members)
            for path, members in outside.items()
            if is_archive(path) or is_elf(path, RELOCATABLE)
        )
    )


def _find_visible(
    binary: Binary, reference: Path, needed: Set[str], module: bytes
) -> tuple[str, ...] | None:
    scripts = (i.path for i in binary.inputs if not i.units and i.word not in _sources(binary))
    if any(map(_BINDING.search, binary.command.words)) or binary.is_shared:
        return None
    if any(not is_elf(path) and not is_archive(path) for path in scripts):
        return None
    (symbols,), (copies,) = (
        run_engine(operation, [module], timeout=600) for operation in ("symbols", "copies")
    )
    defined = set(symbols.decode().partition("\0")[0].split("\n")) - {""}
    # A linker exports a copy of a library's function, unless it optimises at link time.
    exported = read_exported_symbols(reference) - set(copies.decode().split("\n"))
    # Without the C library a program starts at _start; main always stays visible.
    entry = {"_start"} if "main" not in defined else set[str]()
    return tuple(sorted((defined & {*exported, *needed, *entry}) - {"main"}))


@dataclass(frozen=True, slots=True)
class LlvmMaker:
    """Builds one binary with one plan."""

    linker: Linker
    whole: Whole
    plan: BinaryPlan

    def of(self, plan: BinaryPlan) -> "LlvmMaker":
        """Return a maker for another plan of the same binary."""
        return replace(self, plan=plan)

    def make(self, name: str) -> Path:
        """Return the stripped binary; raise `ProjectError` or `PlanError` if the build fails."""
        if self.plan.method == SMALL:
            return self.linker.link_plan(name, self.plan)
        (self.linker.folder / name).mkdir(parents=True, exist_ok=True)
        return self.linker.link_one(name, self._object(), self.whole.units, self.plan.linker)

    def forget(self, keep: Iterable[BinaryPlan]) -> None:
        """Delete the kept files of all plans except those in `keep`."""
        makers = [self.of(plan) for plan in keep]
        self.linker.forget({name for maker in makers for name in (maker._module, maker._code)})

    def optimise(self) -> bytes:
        """Return the module after the plan's passes."""
        with make("llvm-v0", action_space="PassesAndCodegen") as env:
            whole = self.whole.with_flags(self.plan.flags)
            env.reset(benchmark=whole.benchmark(), timeout=_SECONDS)
            try:
                actions = env.commandline_to_actions(self.plan.passes or DEFAULT_PASSES)
            except CompilerGymError as error:
                raise PlanError(f"the passes of {self.plan.name} are invalid: {error}") from error
            *_, truncated, info = env.multistep(actions, [], [], timeout=_SECONDS)
            if truncated:
                raise PlanError(f"the passes of {self.plan.name} failed: {info['error']}")
            return env.observation["Bitcode"].tobytes()

    def list_rules(self) -> list[str]:
        """Return the rules of the size plug-in that change the code of the plan, if it loads it."""
        if PLUGIN not in self.plan.plugin:
            return []
        maker = self.of(replace(self.plan, plugin=(PLUGIN,)))
        with scratch_directory("rules") as name:
            counts = Path(name, "counts")
            maker._make_counted(Path(name), f"stats={counts}")
            return list(read_counts(counts))

    def _make_counted(self, folder: Path, *settings: str) -> None:
        if self.plan.method == SMALL:
            self.linker.link_plan(f"rules-{folder.name}", self.plan, *settings)
            return
        module, output = self._keep_module(), folder / "program.o"
        command = code_command(self.linker.binary, self.plan, module, output, *settings)
        command.run(self.linker.folder)

    def _object(self) -> Path:
        module = self._keep_module()

        def compile_to(path: Path) -> None:
            command = code_command(self.linker.binary, self.plan, module, path)
            command.run(self.linker.folder)

        return self.linker.keep_file(self._code, compile_to)

    def _keep_module(self) -> Path:
        return self.linker.keep_file(self._module, lambda path: path.write_bytes(self.optimise()))

    @property
    def _module(self) -> str:
        return f"{_key([*self.plan.flags, '', self.plan.passes])}.bc"

    @property
    def _code(self) -> str:
        options = (f"{name}={value}" for name, value in sorted(self.plan.options.items()))
        plugin = (*self.plan.plugin, plugin_hash()) if self.plan.plugin else ()
        return f"{_key([self._module, *options, *plugin])}.o"


def code_command(
    binary: Binary, plan: BinaryPlan, module: Path, output: Path, *settings: str
) -> LinkCommand:
    """Return the command that compiles the optimised `module` to an object.

    `settings` are more settings of the plug-in.
    """
    command = [*clang_command(), *QUIET, *machine_flags(binary), "-Oz", *SECTIONS]
    command += ["-Xclang", "-disable-llvm-passes"]
    for name, value in plan.options.items():
        if name != _NO_OPTION:
            command += ["-mllvm", f"-{name}={value}"]
    command += load_words(plan, "-fpass-plugin=")
    words = (*command, "-x", "ir", "-c", str(module), "-o", str(output))
    return LinkCommand(words, plugin_environment(plan, *settings))


def machine_flags(binary: Binary) -> list[str]:
    """Return the ``-f`` and ``-m`` flags that all sources of `binary` share."""
    units = binary.units
    shared = set(units[0].command.flags).intersection(*(unit.command.flags for unit in units[1:]))
    return [flag for flag in units[0].command.flags if flag in shared and flag[:2] in ("-f", "-m")]


def _key(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
