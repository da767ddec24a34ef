# SPDX-License-Identifier: MIT
"""What a program costs after ``clang`` at each level, computed once per program.

A baseline depends on the program and the LLVM version alone, so it is kept on
disk under the hash of both. A cache that cannot be read or written costs time,
never a result.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from compiler_gym.paths import cache_path

__all__ = ["Baselines"]

_REMEMBERED = 4096
_memory: dict[tuple[str, str, str], int] = {}


class _Module(Protocol):
    def apply_level(self, level: str) -> None: ...
    def instruction_count(self) -> int: ...
    def object_text_size(self) -> int: ...


class Baselines:
    """The costs of programs at -O0, -O1, -O2, -O3, -Os and -Oz."""

    def __init__(self, load: Callable[[bytes], _Module], version: str) -> None:
        self._load = load
        self._directory = cache_path(f"llvm-{version}/baselines")
        self._digest: tuple[int, str] = (0, "")

    def cost(self, contents: bytes, level: str, cost: str) -> int:
        """Return `cost` of the program `contents` after `level`."""
        key = (self._key(contents), level, cost)
        known = _memory.get(key)
        if known is None:
            known = self._read(key)
        if known is None:
            known = self._compute(contents, level, cost)
            self._write(key, known)
        while len(_memory) >= _REMEMBERED:
            del _memory[next(iter(_memory))]
        _memory[key] = known
        return known

    def _compute(self, contents: bytes, level: str, cost: str) -> int:
        module = self._load(contents)
        module.apply_level(level)
        if cost == "IrInstructionCount":
            return module.instruction_count()
        return module.object_text_size()

    def _key(self, contents: bytes) -> str:
        if self._digest[0] != id(contents):
            self._digest = (id(contents), hashlib.sha256(contents).hexdigest())
        return self._digest[1]

    def _path(self, key: tuple[str, str, str]) -> Path:
        digest, level, cost = key
        return self._directory / digest[:2] / f"{digest}-{cost}-{level}"

    def _read(self, key: tuple[str, str, str]) -> int | None:
        try:
            value, end = self._path(key).read_text().split(" ")
            return int(value) if end == "ok\n" else None
        except (OSError, ValueError):
            return None

    def _write(self, key: tuple[str, str, str], value: int) -> None:
        path = self._path(key)
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(f"{value} ok\n")
            partial.replace(path)
        except OSError:
            try:
                partial.unlink(missing_ok=True)
            except OSError:
                pass
