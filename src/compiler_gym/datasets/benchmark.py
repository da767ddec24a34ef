# SPDX-License-Identifier: MIT
"""One program as the compiler reads it, with its sources and its validation callbacks.

A benchmark holds its program in memory and never changes it. It compiles nothing and is
independent of the compiler: `contents` are bytes.
"""

import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import total_ordering
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol, TypeVar

from compiler_gym.datasets.run_spec import RunSpec, pack_run
from compiler_gym.datasets.uri import BenchmarkUri
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidParameterError,
    ValidationUnavailableError,
    program_unreadable,
)
from compiler_gym.errors.finding import ValidationError
from compiler_gym.files import read_regular

ValidationCallback = Callable[[Any], Iterable[Any] | None]
"""A function that takes the environment at the end of an episode and returns the errors it finds:
a list of records, a single string or `ValidationError`, or None if there are none."""


class RunsPrograms(Protocol):
    """The method of an environment that `Benchmark.validate` needs to run the program."""

    def behaviour_errors(self) -> Iterable[Any]:
        """Run the program in its current state on its inputs and return the errors, as records.

        Raises `ValidationUnavailableError` if it cannot be run.
        """
        ...


_Self = TypeVar("_Self", bound="Benchmark")


class BenchmarkSource(NamedTuple):
    """One source file of a program.

    >>> BenchmarkSource("main.c", b"int main() { return 0; }").filename
    'main.c'
    """

    filename: str
    """The file's relative path."""
    contents: bytes
    """The file's text, as bytes."""


@total_ordering
class Benchmark:
    """A program to optimise.

    Benchmarks are equal if their addresses are, and a benchmark equals its address as a
    string. A benchmark can be pickled if its validation callbacks can.

        >>> program = Benchmark.from_file_contents("demo-v0/empty", b"")
        >>> program
        benchmark://demo-v0/empty
        >>> program == "benchmark://demo-v0/empty"
        True
    """

    def __init__(
        self,
        uri: str | BenchmarkUri,
        contents: bytes,
        *,
        sources: Iterable[BenchmarkSource | tuple[str, bytes]] = (),
        validation_callbacks: Iterable[ValidationCallback] = (),
        run: RunSpec | None = None,
    ) -> None:
        self._uri = uri if isinstance(uri, BenchmarkUri) else BenchmarkUri.from_string(uri)
        self._contents = contents
        self._sources = [BenchmarkSource(*source) for source in sources]
        self._callbacks = list(validation_callbacks)
        self.run = run
        """The arguments, inputs and expected outputs of the program, or None if unknown."""

    @classmethod
    def from_file(
        cls: type[_Self], uri: str | BenchmarkUri, path: str | Path, **kwargs: Any
    ) -> _Self:
        """Return the program in the file `path`; raise `BenchmarkInitError` if it is unreadable."""
        try:
            return cls(uri, read_regular(path), **kwargs)
        except OSError as error:
            raise program_unreadable(path, error) from error

    @classmethod
    def from_file_contents(
        cls: type[_Self], uri: str | BenchmarkUri, data: bytes, **kwargs: Any
    ) -> _Self:
        """Return a benchmark with the contents `data`."""
        return cls(uri, data, **kwargs)

    @property
    def uri(self) -> BenchmarkUri:
        """The address, including the query parameters it was requested with."""
        return self._uri

    @property
    def contents(self) -> bytes:
        """The program, as the compiler reads it."""
        return self._contents

    @property
    def content_hash(self) -> str:
        """The sha256 of `contents`, in hexadecimal."""
        return hashlib.sha256(self._contents).hexdigest()

    @property
    def parameters(self) -> dict[str, str]:
        """The query parameters of the address, one value per key."""
        return self._uri.parameters

    def encode_run(self) -> bytes:
        """Return `run` as bytes for a worker; empty if the worker derives it from the address."""
        return b"" if self.run is None else pack_run(self.run)

    @property
    def sources(self) -> Iterable[BenchmarkSource]:
        """The source files, if they are known."""
        return tuple(self._sources)

    def add_source(self, source: BenchmarkSource | tuple[str, bytes]) -> None:
        """Add a source file."""
        self._sources.append(BenchmarkSource(*source))

    def write_sources_to_directory(self, directory: str | Path) -> int:
        """Write the source files below `directory` and return their number.

        Raises `BenchmarkInitError`, before any file is written, if a file name points outside
        the directory.
        """
        root = Path(directory)
        sources = list(self.sources)
        for filename, _ in sources:
            _require_relative(filename)
        for filename, contents in sources:
            path = root / filename
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
        return len({filename for filename, _ in sources})

    def validation_callbacks(self) -> list[ValidationCallback]:
        """Return every check: first the program's runs, if known, then the added callbacks."""
        return [*([runs_as_expected] if self.run is not None else []), *self._callbacks]

    def add_validation_callback(self, validation_callback: ValidationCallback) -> None:
        """Add a check that `validate` calls with the environment."""
        self._callbacks.append(validation_callback)

    def is_validatable(self) -> bool:
        """Return whether the program has at least one validation callback."""
        return bool(self.validation_callbacks())

    def ivalidate(self, env: Any) -> Iterator[Any]:
        """Yield the errors of each callback as soon as it returns.

        Raises `ValidationUnavailableError` if the program has a run specification but `env`
        cannot run it, because a skipped check must not count as passed. Raises
        `InvalidParameterError` if a callback returns anything other than errors.
        """
        for callback in self.validation_callbacks():
            yield from collect_findings(callback, env)

    def validate(self, env: Any) -> list[Any]:
        """Return the errors of every callback; an empty list means that the program is correct.

        Raises `ValidationUnavailableError` as `ivalidate` does.
        """
        return list(self.ivalidate(env))

    def with_uri(self: _Self, uri: BenchmarkUri) -> _Self:
        """Return the same program with another address."""
        if uri == self._uri:
            return self
        other = copy.copy(self)
        other._uri = uri
        other._sources = list(self._sources)
        other._callbacks = list(self._callbacks)
        return other

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Benchmark):
            return self._uri == other._uri
        return self._uri == other if isinstance(other, (str, BenchmarkUri)) else NotImplemented

    def __lt__(self, other: "str | BenchmarkUri | Benchmark") -> bool:
        return str(self._uri) < str(other)

    def __hash__(self) -> int:
        return hash(self._uri)

    def __str__(self) -> str:
        return str(self._uri)

    __repr__ = __str__


class BenchmarkWithSource(Benchmark):
    """A program with the single source file that it was compiled from.

    >>> program = BenchmarkWithSource.create("demo-v0/1", b"BC", "main.c", b"int x;")
    >>> program.source
    'int x;'
    """

    @classmethod
    def create(
        cls,
        uri: str | BenchmarkUri,
        contents: bytes | Path,
        filename: str,
        source: bytes | Path,
        **kwargs: Any,
    ) -> "BenchmarkWithSource":
        """Return the program `contents` that was compiled from `source`."""
        sources = [BenchmarkSource(filename, _read_bytes(source))]
        return cls(uri, _read_bytes(contents), sources=sources, **kwargs)

    @property
    def source(self) -> str:
        """The text of the source file; bytes that are not UTF-8 are replaced."""
        return self._sources[0].contents.decode(errors="replace")


def collect_findings(callback: ValidationCallback, env: Any) -> list[Any]:
    """Return the errors that `callback` finds in `env`, as a list.

    Raises `InvalidParameterError` if the callback returns something else.

    >>> collect_findings(lambda env: None, "env"), collect_findings(lambda env: "too long", "env")
    ([], ['too long'])
    """
    result: Any = callback(env)
    if result is None:
        return []
    if isinstance(result, (str, ValidationError)):
        return [result]
    try:
        return list(result)
    except TypeError as error:
        name = getattr(callback, "__name__", callback)
        raise InvalidParameterError(
            f"the validation callback {name} returned {result!r}; return a list of errors, or None "
            "if there are none"
        ) from error


def runs_as_expected(env: RunsPrograms) -> Iterable[Any]:
    """Run the program of `env` and return the errors."""
    try:
        errors = env.behaviour_errors
    except AttributeError:
        raise ValidationUnavailableError(
            f"cannot run the program of {env}: the environment has no method `behaviour_errors`"
        ) from None
    return errors()


def _read_bytes(data: bytes | Path) -> bytes:
    if isinstance(data, bytes):
        return data
    try:
        return read_regular(data)
    except OSError as error:
        raise program_unreadable(data, error) from error


def _require_relative(filename: str) -> None:
    path = PurePosixPath(filename)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in filename:
        raise BenchmarkInitError(
            f"the path of a source file points outside its directory: {filename!r}"
        )
