# SPDX-License-Identifier: MIT
"""Whether a module is a part of a program that other modules use, or the whole program.

``?scope=program`` makes local every symbol that nothing outside the module uses, as a linker may
when it optimises; ``&keep=name,name`` keeps further symbols visible. The program is then compared
with what ``clang -flto`` makes of it.
"""

import hashlib
from dataclasses import dataclass

from compiler_gym import _llvm
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.session import BenchmarkSpec

__all__ = ["SCOPES", "Scope"]

SCOPES = ("module", "program")
"""``module``, the default, leaves every name as it is."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What of a module others may see."""

    uri: str
    is_program: bool = False
    keep: tuple[str, ...] = ()
    """Names that stay visible beside those that have to; in order, each once."""

    @classmethod
    def of(cls, benchmark: BenchmarkSpec) -> "Scope":
        """Return the scope that an address asks for; raise `BenchmarkInitError` for no scope."""
        asked = benchmark.parameters.get("scope", SCOPES[0])
        if asked not in SCOPES:
            raise BenchmarkInitError(
                f"scope is {asked!r} in {benchmark.uri}: expected {' or '.join(SCOPES)}"
            )
        is_program = asked == "program"
        if "keep" not in benchmark.parameters:
            return cls(benchmark.uri, is_program)
        names = benchmark.parameters["keep"].split(",")
        if not is_program:
            raise BenchmarkInitError(
                f"{benchmark.uri} says what to keep, and without scope=program everything is kept: "
                "add scope=program"
            )
        if not all(names):
            raise BenchmarkInitError(
                f"keep has an empty name in {benchmark.uri}: expected keep=name,name"
            )
        return cls(benchmark.uri, is_program, tuple(sorted(set(names))))

    @property
    def key(self) -> str:
        """What the names of kept costs end in: costs of one scope are none of another."""
        if not self.is_program:
            return ""
        names = hashlib.sha256("\0".join(self.keep).encode(errors="surrogateescape")).hexdigest()
        return f"-program{f'-{names[:32]}' if self.keep else ''}"

    def apply(self, module: _llvm.Module) -> list[str]:
        """Make local what nothing outside can name; return what stays visible.

        Nothing changes, and nothing is returned, where the module is not the whole program.
        """
        if not self.is_program:
            return []
        try:
            return module.internalize(list(self.keep))
        except BenchmarkInitError as error:
            raise BenchmarkInitError(f"{self.uri}: {error}") from None

    def apply_level(self, module: _llvm.Module, level: str) -> None:
        """Make of a fresh module what clang does at `level`: with the linker, if it is all."""
        if self.is_program:
            module.apply_linked_level(level, list(self.keep))
        else:
            module.apply_level(level)

    def pipeline(self, module: _llvm.Module) -> str:
        """Return what opt runs on a fresh module to make the same of it; empty for nothing."""
        seen = self.apply(module)
        return f"internalize<{';'.join(f'preserve-gv={name}' for name in seen)}>" if seen else ""
