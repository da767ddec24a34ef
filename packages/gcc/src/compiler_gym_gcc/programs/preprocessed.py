# SPDX-License-Identifier: MIT
"""A program preprocessed with one GCC, once for each set of predefined macros.

Results are cached in memory and on disk under a hash of the input, so that nothing is preprocessed
twice. Compiling the preprocessed text gives the same bytes as compiling the program itself.
"""

import hashlib
import re
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from compiler_gym.errors import BenchmarkInitError, CompilerDiagnosticError, CompilerError
from compiler_gym.files import cache_path, keep
from compiler_gym_gcc.programs.macros import (
    change_only_compiler_macros,
    digest_macros,
    query,
    select_preprocessor_flags,
)
from compiler_gym_gcc.programs.memo import open_memo
from compiler_gym_gcc.programs.source import (
    LANGUAGES,
    SourceProgram,
    compile_flags,
    find_suffix,
    pack,
    unpack,
)
from compiler_gym_gcc.toolchain.build import check, preprocess, read_macros
from compiler_gym_gcc.toolchain.gcc import Gcc
from compiler_gym_gcc.toolchain.timeout import DEFAULT_SECONDS

__all__ = ["Preprocessed", "Sources"]

_MOST_REMEMBERED = 128
_PREPROCESSED_VERSION = "2"
_SWITCHES = re.compile(rb"pragma[ \t]+GCC[ \t]+(?:optimize|target|(?:push|pop|reset)_options)\b")
"""Pragmas that change macros during compilation; the stand-alone preprocessor ignores them."""

_remembered: dict[str, "Preprocessed"] = {}


class Preprocessed(NamedTuple):
    """A program preprocessed under given options."""

    text: SourceProgram
    """The units, with every header included."""
    compiled: SourceProgram
    """The program to compile: `text`, or the original program if `text` would not be equivalent."""
    digest: str
    """Hexadecimal digits that identify `compiled`."""


class Sources:
    """One program and its preprocessed forms under one compiler."""

    def __init__(self, gcc: Gcc, identity: str, program: SourceProgram, directory: Path) -> None:
        self.program = program
        self._gcc, self._identity = gcc, identity
        self._directory = directory
        self._base = cache_path("gcc") / identity
        self._packed = hashlib.sha256(pack(program)).hexdigest()
        self._flags = compile_flags(program)
        self._languages = sorted(_languages(program))
        self._is_apart = _names_differ(program)
        self._is_switching = any(map(_SWITCHES.search, program.files.values()))
        self._latest: tuple[tuple[str, ...], Preprocessed] | None = None

    def move_to(self, directory: Path) -> None:
        """Use `directory` from now on for temporary files."""
        self._directory = directory

    def start(self) -> None:
        """Raise `BenchmarkInitError` if the program does not compile without options."""
        try:
            self.read((), DEFAULT_SECONDS)
        except CompilerError as error:
            raise BenchmarkInitError(f"the program does not compile:\n{error}") from error

    def facts_path(self, digest: str) -> Path:
        """Return the path of the facts about the program with this digest."""
        return self._base / "facts" / digest[:2] / digest

    def read(self, words: Sequence[str], timeout: float) -> Preprocessed:
        """Return the program preprocessed under the options `words`.

        `timeout` limits each run of the compiler, in seconds. Raises `CompilerDiagnosticError` if
        the program cannot be preprocessed under these options.
        """
        result = self._under(select_preprocessor_flags(words), timeout)
        if not self._is_apart or not (self._is_switching or change_only_compiler_macros(words)):
            return result
        direct = hashlib.sha256(f"{result.digest}\0{self._packed}".encode()).hexdigest()
        return Preprocessed(result.text, self.program, direct)

    def _under(self, words: tuple[str, ...], timeout: float) -> Preprocessed:
        """Return the program preprocessed under `words`, all of which affect the preprocessor."""
        if self._latest is not None and self._latest[0] == words:
            return self._latest[1]
        key = self._key(self._macros(words, timeout))
        result = _remembered.get(key)
        if result is None:
            result = self._load(key) or self._make(key, words, timeout)
            while len(_remembered) >= _MOST_REMEMBERED:
                del _remembered[next(iter(_remembered))]
            _remembered[key] = result
        self._latest = words, result
        return result

    def _macros(self, words: tuple[str, ...], timeout: float) -> str:
        """Return a digest of the macros under `words`; if GCC rejects them, of those without."""
        if not self._languages:
            return ""
        queries = [query(language, self._flags, words) for language in self._languages]
        command = "\0".join(word for words in queries for word in words)
        memo = open_memo(self._base / "macros")
        facts = memo.facts(command)
        if "macros" not in facts:
            gcc, scratch = self._gcc, self._scratch()
            try:
                printed = [read_macros(gcc, words, scratch, timeout) for words in queries]
            except CompilerDiagnosticError:
                # Compiling with the same options reports the error again.
                return self._macros((), timeout) if words else ""
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            memo.add(command, digest_macros(printed))
        return facts["macros"]

    def _make(self, key: str, words: tuple[str, ...], timeout: float) -> Preprocessed:
        gcc, scratch = self._gcc, self._scratch()
        try:
            text = preprocess(gcc, self.program, words, scratch, timeout)
            if not words:
                check(gcc, text, scratch, timeout)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        packed = pack(text)
        digest = hashlib.sha256(packed).hexdigest()
        if not self._text_path(digest).exists():
            keep(self._text_path(digest), zlib.compress(packed, 1))
        keep(self._key_path(key), digest.encode())
        return self._preprocess(text, digest)

    def _load(self, key: str) -> Preprocessed | None:
        try:
            digest = self._key_path(key).read_text()
            packed = zlib.decompress(self._text_path(digest).read_bytes())
            if hashlib.sha256(packed).hexdigest() != digest:
                return None
            return self._preprocess(unpack(packed), digest)
        except (OSError, ValueError, zlib.error, BenchmarkInitError):
            return None

    def _preprocess(self, text: SourceProgram, digest: str) -> Preprocessed:
        # Different macros often lead to the same text, which is stored only once.
        same = (item for item in _remembered.values() if item.digest == digest)
        return next(same, None) or Preprocessed(text, text, digest)

    def _scratch(self) -> Path:
        return self._directory / "preprocess"

    def _text_path(self, digest: str) -> Path:
        return self._base / "texts" / digest[:2] / digest

    def _key_path(self, key: str) -> Path:
        return self._base / "sources" / key[:2] / key

    def _key(self, macros: str) -> str:
        parts = "\0".join((_PREPROCESSED_VERSION, self._identity, self._packed, macros))
        return hashlib.sha256(parts.encode()).hexdigest()


def _languages(program: SourceProgram) -> set[str]:
    """Return the languages in `program` that use the preprocessor."""
    languages = {LANGUAGES.get(find_suffix(unit), "c") for unit in program.units}
    return {language for language in languages if not language.endswith("cpp-output")}


def _names_differ(program: SourceProgram) -> bool:
    """Return whether the objects of the units have distinct names in one directory."""
    return len({PurePosixPath(unit).stem for unit in program.units}) == len(program.units)
