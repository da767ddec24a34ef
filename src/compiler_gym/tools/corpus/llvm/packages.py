# SPDX-License-Identifier: MIT
"""What makes modules of the packages of a distribution: its clang, before any pass of ``-Oz``.

The sources are read as for ``-Oz``, so that functions say that they are to be small, and no pass
is run: what a level would do is left to whoever reads them.
"""

import re
from collections.abc import Collection, Sequence

import msgspec

from compiler_gym.envs.llvm.programs import select_members, unknown_flags
from compiler_gym.envs.llvm.toolchain import OLD_C, name_package, run_engine, tool_name
from compiler_gym.errors import CompilerGymError
from compiler_gym.tools.tune.builds import Unit

__all__ = ["ClangOfPackages", "unit_compiler"]

_SECONDS = 600.0
_FORGIVEN = (
    *OLD_C,
    *(
        f"-Wno-error={name}"
        for name in (
            "c++11-narrowing",
            "dynamic-exception-spec",
            "register",
            "reserved-user-defined-literal",
        )
    ),
)
"""What clang calls an error, and the compilers that packages are written for do not."""
_TREE = re.compile(r"(/run/build/[^/]+)")
_BATCH_BYTES = 64 << 20


class ClangOfPackages:
    """Clang as it is in the system that packages are built in."""

    packages: Sequence[str] = (name_package("clang"),)
    level = "-Oz"
    suffix = ".bc"

    def version_command(self) -> Sequence[str]:
        """Return the command that prints which clang it is."""
        return [f"/usr/bin/{tool_name('clang')}", "--version"]

    def command(self, unit: Unit, output: str, left_out: Collection[str]) -> Sequence[str]:
        """Return the command that writes the bitcode of `unit`, which names no place of a tree."""
        command = unit.command.without_flags(set(left_out))
        folder = _TREE.match(str(unit.command.cwd))
        places = () if folder is None else (f"-ffile-prefix-map={folder[1]}=.",)
        return [
            f"/usr/bin/{tool_name('clang')}",
            *_FORGIVEN,
            *command.arguments(unit.source),
            *("-c", "-emit-llvm", self.level, "-g0", "-fno-ident", "-w", "-Qunused-arguments"),
            *("-Xclang", "-disable-llvm-passes", "-fdebug-compilation-dir=."),
            *places,
            *("-o", output),
        ]

    def unknown_flags(self, said: str, unit: Unit) -> set[str]:
        """Return the flags of `unit` that clang says it does not know."""
        return unknown_flags(said) & set(unit.command.flags)

    def counts(self, modules: Sequence[bytes]) -> list[tuple[int, int] | None]:
        """Return how many instructions and defined functions each has; None for no module."""
        found: list[tuple[int, int] | None] = []
        for batch in _batches(modules):
            try:
                answers = run_engine("counts", batch, timeout=_SECONDS)
            except CompilerGymError:
                answers = [_alone(module) for module in batch]
            found += [msgspec.json.decode(one, type=tuple[int, int]) if one else None
                      for one in answers]  # fmt: skip
        return found

    def link_modules(
        self, modules: Sequence[bytes], archives: Sequence[Sequence[bytes]], *, is_shared: bool
    ) -> bytes:
        """Return one module of `modules` and what they need of `archives`."""
        wanted = () if is_shared else ("main",)
        parts = [*modules, *select_members(modules, archives, wanted=wanted, timeout=_SECONDS)]
        return parts[0] if len(parts) == 1 else run_engine("link", parts, timeout=_SECONDS)[0]


unit_compiler = ClangOfPackages()
"""What the compiler's record names."""


def _batches(modules: Sequence[bytes]) -> list[list[bytes]]:
    batches: list[list[bytes]] = []
    size = _BATCH_BYTES
    for module in modules:
        if size + len(module) > _BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(module)
        size += len(module)
    return batches


def _alone(module: bytes) -> bytes:
    try:
        return run_engine("counts", [module], timeout=_SECONDS)[0]
    except CompilerGymError:
        return b""
