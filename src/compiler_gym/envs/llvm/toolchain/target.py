# SPDX-License-Identifier: MIT
"""The target of a program: that of its module, or the one that its address names.

``?target=aarch64`` retargets the module before anything else: its triple, its data layout and the
processor in its function attributes become those that clang writes for that target. The
instructions remain those that clang generated for x86-64.
"""

import hashlib
from dataclasses import dataclass

from compiler_gym import _llvm
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.session import BenchmarkSpec

__all__ = ["Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """The machine that code is generated for."""

    uri: str
    asked: str = ""
    """The name of a machine or a triple; empty to keep the module's own."""

    @classmethod
    def of(cls, benchmark: BenchmarkSpec) -> "Target":
        """Return the target in an address; raise `BenchmarkInitError` if it is unknown."""
        target = benchmark.parameters.get("target")
        if target is None:
            return cls(benchmark.uri)
        if not target.isascii() or not _llvm.machine_of(target):
            raise BenchmarkInitError(
                f"no target {target!r} in {benchmark.uri}; use {', '.join(_llvm.machines())}, "
                "or a triple such as aarch64-unknown-linux-gnu"
            )
        return cls(benchmark.uri, target)

    @property
    def key(self) -> str:
        """The suffix of cached costs, which keeps the costs of different targets apart."""
        if not self.asked:
            return ""
        machine = _llvm.machine_of(self.asked)
        if "-" not in self.asked:
            return f"-{machine}"
        return f"-{machine}-{hashlib.sha256(self.asked.encode()).hexdigest()[:32]}"

    def apply(self, module: _llvm.Module) -> None:
        """Retarget a new module to this machine, or raise `BenchmarkInitError`."""
        if not self.asked:
            return
        try:
            module.retarget(self.asked)
        except BenchmarkInitError as error:
            raise BenchmarkInitError(f"{self.uri}: {error}") from None
