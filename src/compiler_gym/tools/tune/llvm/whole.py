# SPDX-License-Identifier: MIT
"""One module of everything that a binary was made of, and what of it must stay visible."""

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
"""What makes clang a front end: IR as it leaves it at -Oz, with the attributes for size."""

_BINDING = ("--wrap", "--defsym", "--version-script", "--dynamic-list", "--symbol-ordering")
"""Options of a linker that name symbols: where one is there, every name stays visible."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A binary as one module."""

    module: bytes
    """Its bitcode, as the front end leaves it."""
    units: tuple[Unit, ...]
    """The sources that are in it, in the order in which they were linked."""
    keep: tuple[str, ...] | None
    """The names that must stay visible; None if that are all."""
    flags: tuple[str, ...]
    """What the front end was told besides."""
    _again: Callable[[tuple[str, ...]], "Whole"]
    _others: dict[tuple[str, ...], "Whole"] = field(default_factory=dict[tuple[str, ...], "Whole"])
    _lock: Lock = field(default_factory=Lock)

    def with_flags(self, flags: tuple[str, ...]) -> "Whole":
        """Return it as the front end makes it with other `flags`."""
        if flags == self.flags:
            return self
        with self._lock:
            if flags not in self._others:
                self._others[flags] = self._again(flags)
            return self._others[flags]

    def benchmark(self) -> Benchmark:
        """Return it as the program of an episode."""
        digest = hashlib.sha256(self.module).hexdigest()[:16]
        scope = "" if self.keep is None else "?scope=program"
        names = f"&keep={','.join(self.keep)}" if self.keep else ""
        return Benchmark.from_file_contents(
            f"benchmark://user-v0/{digest}{scope}{names}", self.module
        )


def make_whole(binary: Binary, reference: Path, *, jobs: int, flags: tuple[str, ...] = ()) -> Whole:
    """Return the one module of `binary`, of which `reference` is some linked form.

    `flags` are for the front end, after the project's own.
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
    chosen = _list_linked_units(binary, modules, sorted(needed))
    parts = [modules[unit] for unit in chosen]
    linked = parts[0] if len(parts) == 1 else run_engine("link", parts, timeout=600)[0]
    return Whole(
        linked,
        tuple(chosen),
        _find_kept(binary, reference, needed, linked),
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
    """Return the units that a linker takes: of archives, the members that are needed."""
    plain = [unit for input in binary.inputs if not input.is_lazy for unit in input.units]
    plain = list(dict.fromkeys(plain))
    archives = [
        [unit for unit in input.units if unit not in plain]
        for input in binary.inputs
        if input.is_lazy
    ]
    by_module = {modules[unit]: unit for units in archives for unit in reversed(units)}
    found = select_members(
        [modules[unit] for unit in plain],
        [[modules[unit] for unit in units] for units in archives],
        wanted=(*(() if binary.is_shared else ("main",)), *needed),
        timeout=600,
    )
    return list(dict.fromkeys([*plain, *(by_module[module] for module in found)]))


def _find_kept(
    binary: Binary, reference: Path, needed: set[str], module: bytes
) -> tuple[str, ...] | None:
    words = binary.command.link_words
    if any(option in word for word in words for option in _BINDING) or "-T" in words:
        return None
    if binary.is_shared:
        return None
    named = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-u", "-e")]
    (text,) = run_engine("symbols", [module], timeout=600)
    defined = set(text.decode().partition("\0")[0].split("\n")) - {""}
    # A program without the C library begins at _start; where main is there, it stays anyway.
    begins = {"_start"} if "main" not in defined else set[str]()
    return tuple(sorted(defined & {*read_exported_symbols(reference), *needed, *named, *begins}))
