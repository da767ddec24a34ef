# SPDX-License-Identifier: MIT
"""The distribution's clang, compiling packages to bitcode before any optional pass.

The sources are compiled for ``-Oz``, so that functions have size attributes, but optimisation is
left to the users of the modules. Functions that every level must inline (``always_inline``) are
inlined: a module that keeps them looks up to four times smaller than any level makes it.
"""

import re
from collections.abc import Collection, Sequence

import msgspec

from compiler_gym.envs.llvm.programs import select_members, skip_optional_passes, unknown_flags
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
"""Flags that downgrade errors which the packages' usual compilers do not report."""
_TREE = re.compile(r"(/run/build/[^/]+)")
_BATCH_BYTES = 64 << 20


class ClangOfPackages:
    """The clang of the system that packages are built in."""

    packages: Sequence[str] = (name_package("clang"),)
    level = "-Oz"
    suffix = ".bc"

    def version_command(self) -> Sequence[str]:
        """Return the command that prints clang's version."""
        return [f"/usr/bin/{tool_name('clang')}", "--version"]

    def command(self, unit: Unit, output: str, left_out: Collection[str]) -> Sequence[str]:
        """Return the command that compiles `unit` to bitcode without machine-specific paths."""
        command = unit.command.without_flags(set(left_out))
        folder = _TREE.match(str(unit.command.cwd))
        prefix_map = () if folder is None else (f"-ffile-prefix-map={folder[1]}=.",)
        return [
            f"/usr/bin/{tool_name('clang')}",
            *_FORGIVEN,
            *command.arguments(unit.source),
            *("-c", "-emit-llvm", self.level, "-g0", "-fno-ident", "-w", "-Qunused-arguments"),
            *(*skip_optional_passes(command.flags), "-fdebug-compilation-dir=."),
            *prefix_map,
            *("-o", output),
        ]

    def unknown_flags(self, said: str, unit: Unit) -> set[str]:
        """Return the flags of `unit` that clang's error message `said` reports as unknown."""
        return unknown_flags(said) & set(unit.command.flags)

    def counts(self, modules: Sequence[bytes]) -> list[tuple[int, int] | None]:
        """Return the numbers of instructions and defined functions of each; None if invalid."""
        counts: list[tuple[int, int] | None] = []
        for batch in _batches(modules):
            try:
                answers = run_engine("counts", batch, timeout=_SECONDS)
            except CompilerGymError:
                answers = [_count_one(module) for module in batch]
            counts += [msgspec.json.decode(answer, type=tuple[int, int]) if answer else None
                       for answer in answers]  # fmt: skip
        return counts

    def link_modules(
        self, modules: Sequence[bytes], archives: Sequence[Sequence[bytes]], *, is_shared: bool
    ) -> bytes:
        """Link `modules`, and the members of `archives` that they need, into one module."""
        roots = () if is_shared else ("main",)
        parts = [*modules, *select_members(modules, archives, wanted=roots, timeout=_SECONDS)]
        return parts[0] if len(parts) == 1 else run_engine("link", parts, timeout=_SECONDS)[0]


unit_compiler = ClangOfPackages()
"""The instance that the compiler's registration refers to."""


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


def _count_one(module: bytes) -> bytes:
    try:
        return run_engine("counts", [module], timeout=_SECONDS)[0]
    except CompilerGymError:
        return b""
