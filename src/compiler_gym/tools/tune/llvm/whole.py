# SPDX-License-Identifier: MIT
"""Link all sources of a binary into one module, and find the symbols that must stay visible."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from compiler_gym.builds import read_exported_symbols, read_needed_symbols
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.programs import select_members
from compiler_gym.envs.llvm.toolchain import run_engine
from compiler_gym.files import scratch_directory
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.llvm.linking import compile_words, run

__all__ = ["FRONT_END", "Whole", "make_whole"]

FRONT_END = ("-Oz", "-g0", "-fno-ident", "-Xclang", "-disable-llvm-passes", "-emit-llvm")
"""Flags that stop clang after the front end: unoptimised IR with the attributes of -Oz."""

_BINDING = ("--wrap", "--defsym", "--version-script", "--dynamic-list", "--symbol-ordering")
"""Linker options that refer to symbols: with any of these, all symbols stay visible."""


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
    units = binary.units

    def compile_unit(unit: Unit) -> bytes:
        return _front_end(unit, flags)

    with ThreadPoolExecutor(jobs) as pool:
        modules = dict(
            zip(units, pool.map(compile_unit, units), strict=True)
        )  # fmt: skip
    needed = set[str]().union(
        *(read_needed_symbols(path) for path in binary.unknown if path.is_file())
    )
    linked_units = _list_linked_units(binary, modules, sorted(needed))
    parts = [modules[unit] for unit in linked_units]
    linked = parts[0] if len(parts) == 1 else run_engine("link", parts, timeout=600)[0]
    return Whole(
        linked,
        tuple(linked_units),
        _find_visible(binary, reference, needed, linked),
        flags,
        lambda other: make_whole(binary, reference, jobs=jobs, flags=other),
    )


def _front_end(unit: Unit, flags: Sequence[str]) -> bytes:
    with scratch_directory("tuning") as folder:
        output = Path(folder) / "unit.bc"
        run(compile_words(unit, (*FRONT_END, *flags), output), unit.command.cwd)
        return output.read_bytes()


def _list_linked_units(
    binary: Binary, modules: dict[Unit, bytes], needed: Sequence[str]
) -> list[Unit]:
    """Return the units that a linker would use: from archives, only the members it needs."""
    plain = [unit for input in binary.inputs if not input.is_lazy for unit in input.units]
    plain = list(dict.fromkeys(plain))
    archives = [
        [unit for unit in input.units if unit not in plain]
        for input in binary.inputs
        if input.is_lazy
    ]
    by_module = {modules[unit]: unit for units in archives for unit in reversed(units)}
    members = select_members(
        [modules[unit] for unit in plain],
        [[modules[unit] for unit in units] for units in archives],
        wanted=(*(() if binary.is_shared else ("main",)), *needed),
        timeout=600,
    )
    return list(dict.fromkeys([*plain, *(by_module[module] for module in members)]))


def _find_visible(
    binary: Binary, reference: Path, needed: set[str], module: bytes
) -> tuple[str, ...] | None:
    words = binary.command.link_words
    if any(option in word for word in words for option in _BINDING) or "-T" in words:
        return None
    if binary.is_shared:
        return None
    requested = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-u", "-e")]
    (text,) = run_engine("symbols", [module], timeout=600)
    defined = set(text.decode().partition("\0")[0].split("\n")) - {""}
    # Without the C library a program starts at _start; main always stays visible.
    entry = {"_start"} if "main" not in defined else set[str]()
    return tuple(sorted(defined & {*read_exported_symbols(reference), *needed, *requested, *entry}))
