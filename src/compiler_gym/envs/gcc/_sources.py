# SPDX-License-Identifier: MIT
"""Programs that one GCC has preprocessed, each once, kept under the hash of what it read."""

import hashlib
import shutil
import zlib
from pathlib import Path

from compiler_gym.envs.gcc._compile import DEFAULT_SECONDS, PREPROCESS_FLAGS, preprocess
from compiler_gym.envs.gcc._program import Program, pack, unpack
from compiler_gym.envs.gcc._spec import GccSpec
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.files import keep
from compiler_gym.paths import cache_path

__all__ = ["Sources"]

_MOST_REMEMBERED = 64
_FORMAT = "1"
_remembered: dict[str, tuple[Program, str]] = {}


class Sources:
    """The preprocessed programs of one compiler."""

    def __init__(self, spec: GccSpec) -> None:
        self._spec = spec
        self._base = cache_path("gcc") / spec.identity

    def memo_path(self, digest: str) -> Path:
        """Return where the facts of the program with this digest are kept."""
        return self._base / "facts" / digest[:2] / digest

    def read(self, program: Program, directory: Path) -> tuple[Program, str]:
        """Return the units of `program` and a digest of them.

        `directory` is for files along the way, which are removed again. Raises
        `BenchmarkInitError` when the program does not compile.
        """
        key = self._key(program)
        known = _remembered.get(key)
        if known is None:
            known = self._load(key) or self._make(key, program, directory)
            while len(_remembered) >= _MOST_REMEMBERED:
                del _remembered[next(iter(_remembered))]
            _remembered[key] = known
        return known

    def _make(self, key: str, program: Program, directory: Path) -> tuple[Program, str]:
        scratch = directory / "preprocess"
        try:
            units = preprocess(self._spec.gcc, program, scratch, DEFAULT_SECONDS)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        contents = pack(units)
        self._store(key, zlib.compress(contents, 1))
        return units, hashlib.sha256(contents).hexdigest()

    def _load(self, key: str) -> tuple[Program, str] | None:
        try:
            contents = zlib.decompress(self._path(key).read_bytes())
            return unpack(contents), hashlib.sha256(contents).hexdigest()
        except (OSError, zlib.error, BenchmarkInitError):
            return None

    def _store(self, key: str, data: bytes) -> None:
        keep(self._path(key), data)

    def _path(self, key: str) -> Path:
        return self._base / "sources" / key[:2] / key

    def _key(self, program: Program) -> str:
        hashed = hashlib.sha256()
        for part in (_FORMAT, *PREPROCESS_FLAGS, self._spec.identity):
            hashed.update(part.encode() + b"\0")
        hashed.update(pack(program))
        return hashed.hexdigest()
