# SPDX-License-Identifier: MIT
"""The costs of a program after each level of ``clang``, computed once per program.

A baseline depends only on the program and the version of LLVM, so it is cached on disk under both.
If the cache cannot be read or written, baselines are computed again and a warning is issued.
"""

import hashlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from compiler_gym.files import keep
from compiler_gym.files.paths import cache_path

__all__ = ["Baselines"]

_REMEMBERED = 4096
_memory: dict[tuple[str, str, str], float] = {}


class _Module(Protocol):
    def apply_level(self, level: str) -> None: ...


_Loaded = TypeVar("_Loaded", bound=_Module)


class Baselines(Generic[_Loaded]):
    """The costs of programs at the levels of `costs.LEVELS`."""

    def __init__(self, load: Callable[[bytes], _Loaded], version: str) -> None:
        self._load = load
        self._version = version
        self._digest: tuple[int, str] = (0, "")

    def cost(
        self,
        contents: bytes,
        level: str,
        cost: str,
        measure: Callable[[_Loaded], float],
        *,
        make: Callable[[], _Loaded] | None = None,
    ) -> float:
        """Return `cost`, as computed by `measure`, of the program `contents` after `level`.

        `make`, if given, makes that program instead of clang; `cost` must then identify it.
        """
        key = (self._key(contents), level, cost)
        value = _memory.get(key)
        if value is None:
            value = self._read(key)
        if value is None:
            value = measure(self._at_level(contents, level) if make is None else make())
            self._write(key, value)
        while len(_memory) >= _REMEMBERED:
            del _memory[next(iter(_memory))]
        _memory[key] = value
        return value

    @cached_property
    def _directory(self) -> Path:
        return cache_path(f"llvm-{self._version}/baselines")

    def _at_level(self, contents: bytes, level: str) -> _Loaded:
        module = self._load(contents)
        module.apply_level(level)
        return module

    def _key(self, contents: bytes) -> str:
        if self._digest[0] != id(contents):
            self._digest = (id(contents), hashlib.sha256(contents).hexdigest())
        return self._digest[1]

    def _path(self, key: tuple[str, str, str]) -> Path:
        digest, level, cost = key
        return self._directory / digest[:2] / f"{digest}-{cost}-{level}"

    def _read(self, key: tuple[str, str, str]) -> float | None:
        try:
            value, end = self._path(key).read_text().split(" ")
            number = float(value) if "." in value or "e" in value else int(value)
            return number if end == "ok\n" else None
        except (OSError, ValueError):
            return None

    def _write(self, key: tuple[str, str, str], value: float) -> None:
        keep(self._path(key), f"{value} ok\n".encode())
