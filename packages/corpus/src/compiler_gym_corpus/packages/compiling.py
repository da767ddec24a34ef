# SPDX-License-Identifier: MIT
"""The interface of a compiler plug-in that turns packages into programs.

A registered compiler names an object that implements `UnitCompiler`; nothing here depends on a
particular compiler.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

from compiler_gym.tools.tune.builds import Unit

__all__ = ["UnitCompiler"]


class UnitCompiler(Protocol):
    """A front end that compiles the sources of a package again after the package was built.

    The commands run inside the system the package is built in; the other methods run outside, on
    the commands' output, in separate processes. An object can be used by several threads.
    """

    packages: Sequence[str]
    """The packages of the distribution that contain the front end."""
    level: str
    """The optimisation level that the modules are prepared for, such as ``-Oz``."""
    suffix: str
    """The suffix of module files."""

    def version_command(self) -> Sequence[str]:
        """Return the command that prints the version on its first line."""
        ...

    def command(self, unit: Unit, output: str, left_out: Collection[str]) -> Sequence[str]:
        """Return the command that compiles `unit` to the module `output`.

        It runs in the working directory of the unit's own command. `left_out` are flags that the
        front end does not know.
        """
        ...

    def unknown_flags(self, said: str, unit: Unit) -> set[str]:
        """Return the flags of `unit` that are unknown according to the error message `said`."""
        ...

    def counts(self, modules: Sequence[bytes]) -> list[tuple[int, int] | None]:
        """Return the numbers of instructions and defined functions of each; None if invalid."""
        ...

    def link_modules(
        self, modules: Sequence[bytes], archives: Sequence[Sequence[bytes]], *, is_shared: bool
    ) -> bytes:
        """Link `modules`, and the members of `archives` that they need, into one module.

        Raises `BenchmarkInitError` if they cannot be linked.
        """
        ...
