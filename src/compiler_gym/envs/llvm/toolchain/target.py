# SPDX-License-Identifier: MIT
"""Which machine a program is for: the one its module names, or the one an address asks for.

``?target=aarch64`` makes the module one for that machine before anything else: its triple, its
data layout and the processor that its functions name become what clang writes for that machine.
The instructions are those that clang made for x86-64.
"""

import hashlib
from dataclasses import dataclass

from compiler_gym import _llvm
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.session import BenchmarkSpec

__all__ = ["Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """The machine that code is made for."""

    uri: str
    asked: str = ""
    """The name of a machine, or a triple; empty to leave it to the module."""

    @classmethod
    def of(cls, benchmark: BenchmarkSpec) -> "Target":
        """Return the target that an address asks for; raise `BenchmarkInitError` for no machine."""
        asked = benchmark.parameters.get("target")
        if asked is None:
            return cls(benchmark.uri)
        if not asked.isascii() or not _llvm.machine_of(asked):
            raise BenchmarkInitError(
                f"target is {asked!r} in {benchmark.uri}: expected {', '.join(_llvm.machines())}, "
                "or a triple of one of them such as aarch64-unknown-linux-gnu"
            )
        return cls(benchmark.uri, asked)

    @property
    def key(self) -> str:
        """What the names of kept costs end in: costs on one machine are none of another."""
        if not self.asked:
            return ""
        machine = _llvm.machine_of(self.asked)
        if "-" not in self.asked:
            return f"-{machine}"
        return f"-{machine}-{hashlib.sha256(self.asked.encode()).hexdigest()[:32]}"

    def apply(self, module: _llvm.Module) -> None:
        """Make a fresh module one for this machine, or raise `BenchmarkInitError`."""
        if not self.asked:
            return
        try:
            module.retarget(self.asked)
        except BenchmarkInitError as error:
            raise BenchmarkInitError(f"{self.uri}: {error}") from None
