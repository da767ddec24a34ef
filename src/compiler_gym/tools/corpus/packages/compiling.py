# SPDX-License-Identifier: MIT
"""What a compiler offers, so that packages become programs of its environments.

A registered compiler names an object that fulfils `UnitCompiler`; no compiler is named here.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from compiler_gym.tools.tune.builds import Unit

__all__ = ["UnitCompiler"]


class UnitCompiler(Protocol):
    """A front end that a package is compiled with again, after its own compiler built it.

    The commands run in the system that the package is built in; all else runs outside of it, on
    what they made, in processes of its own. One object may serve several threads.
    """

    packages: Sequence[str]
    """The packages of the distribution that hold it."""
    level: str
    """The level of optimisation that its modules are prepared for, such as ``-Oz``."""
    suffix: str
    """How files with its modules end."""

    def version_command(self) -> Sequence[str]:
        """Return the command that prints which version it is, on the first line."""
        ...

    def command(self, unit: Unit, output: str, left_out: Collection[str]) -> Sequence[str]:
        """Return the command that makes the module `output` of `unit`.

        It runs where the unit's own command ran. `left_out` are flags that it does not know.
        """
        ...

    def unknown_flags(self, said: str, unit: Unit) -> set[str]:
        """Return the flags of `unit` that it says in an error it does not know."""
        ...

    def counts(self, modules: Sequence[bytes]) -> list[tuple[int, int] | None]:
        """Return how many instructions and defined functions each has; None for no module."""
        ...

    def link_modules(
        self, modules: Sequence[bytes], archives: Sequence[Sequence[bytes]], *, is_shared: bool
    ) -> bytes:
        """Return one module of `modules` and what they need of `archives`.

        Raises `BenchmarkInitError` where they cannot be linked.
        """
        ...
