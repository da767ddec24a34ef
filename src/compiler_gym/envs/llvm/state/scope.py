# SPDX-License-Identifier: MIT
"""The scope of a module: a part of a program that other modules use, or the whole program.

``?scope=program`` makes every symbol local that nothing outside the module uses, as a linker does
for link-time optimisation; ``&keep=name,name`` keeps further symbols visible. The baselines are
then those of ``clang -flto``.
"""

import hashlib
from dataclasses import dataclass

from compiler_gym import _llvm
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.session import BenchmarkSpec

__all__ = ["SCOPES", "Scope"]

SCOPES = ("module", "program")
"""The scopes; ``module``, the default, leaves every symbol unchanged."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The symbols of a module that stay visible to other modules."""

    uri: str
    is_program: bool = False
    keep: tuple[str, ...] = ()
    """Further symbols that stay visible; sorted, without duplicates."""

    @classmethod
    def of(cls, benchmark: BenchmarkSpec) -> "Scope":
        """Return the scope in an address; raise `BenchmarkInitError` if it is not valid."""
        scope = benchmark.parameters.get("scope", SCOPES[0])
        if scope not in SCOPES:
            raise BenchmarkInitError(
                f"no scope {scope!r} in {benchmark.uri}; use {' or '.join(SCOPES)}"
            )
        is_program = scope == "program"
        if "keep" not in benchmark.parameters:
            return cls(benchmark.uri, is_program)
        names = benchmark.parameters["keep"].split(",")
        if not is_program:
            raise BenchmarkInitError(
                f"keep has no effect in {benchmark.uri} without scope=program, because all symbols "
                "stay visible; add scope=program"
            )
        if not all(names):
            raise BenchmarkInitError(
                f"keep has an empty name in {benchmark.uri}; write it as keep=name,name"
            )
        return cls(benchmark.uri, is_program, tuple(sorted(set(names))))

    @property
    def key(self) -> str:
        """The suffix of cached costs, which keeps the costs of different scopes apart."""
        if not self.is_program:
            return ""
        names = hashlib.sha256("\0".join(self.keep).encode(errors="surrogateescape")).hexdigest()
        return f"-program{f'-{names[:32]}' if self.keep else ''}"

    def apply(self, module: _llvm.Module) -> list[str]:
        """Make symbols local that nothing outside uses; return those that stay visible.

        If the module is not the whole program, nothing changes and the result is empty.
        """
        if not self.is_program:
            return []
        try:
            return module.internalize(list(self.keep))
        except BenchmarkInitError as error:
            raise BenchmarkInitError(f"{self.uri}: {error}") from None

    def apply_level(self, module: _llvm.Module, level: str) -> None:
        """Run clang's pipeline for `level` on a new module; a program also gets the linker's."""
        if self.is_program:
            module.apply_linked_level(level, list(self.keep))
        else:
            module.apply_level(level)

    def pipeline(self, module: _llvm.Module) -> str:
        """Return opt's pipeline that does the same as `apply` on a new module; may be empty."""
        names = self.apply(module)
        return f"internalize<{';'.join(f'preserve-gv={name}' for name in names)}>" if names else ""
