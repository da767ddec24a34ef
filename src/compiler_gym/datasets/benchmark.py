# SPDX-License-Identifier: MIT
"""One program, as the compiler reads it, with its sources and how to judge it.

A benchmark holds its program in memory and never changes it. It does not compile
anything and knows no compiler: `contents` are bytes.
"""

import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import total_ordering
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol, TypeVar

from compiler_gym.datasets.running.packed_run import pack_run
from compiler_gym.datasets.running.run_spec import RunSpec
from compiler_gym.datasets.uri import BenchmarkUri
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidParameterError,
    ValidationUnavailableError,
    program_unreadable,
)
from compiler_gym.errors.finding import ValidationError
from compiler_gym.files import read_regular

__all__ = [
    "Benchmark",
    "BenchmarkSource",
    "BenchmarkWithSource",
    "RunsPrograms",
    "ValidationCallback",
    "collect_findings",
    "runs_as_expected",
]

ValidationCallback = Callable[[Any], Iterable[Any] | None]
"""Takes the environment at the end of an episode and returns what is wrong, as records; None
is nothing, and one text or `ValidationError` is one finding."""


class RunsPrograms(Protocol):
    """What `Benchmark.validate` needs of an environment when the program says how it is run."""

    def behaviour_errors(self) -> Iterable[Any]:
        """Run the program as it is now on its inputs and return what is wrong, as records.

        Raises `ValidationUnavailableError` where it cannot be run.
        """
        ...


_Self = TypeVar("_Self", bound="Benchmark")


class BenchmarkSource(NamedTuple):
    """One source file of a program.

    >>> BenchmarkSource("main.c", b"int main() { return 0; }").filename
    'main.c'
    """

    filename: str
    """The relative name of the file."""
    contents: bytes
    """The text of the file, as bytes."""


@total_ordering
class Benchmark:
    """A program to optimise.

    Benchmarks are equal when their addresses are, and equal to the address as
    text. They can be pickled as long as their validation callbacks can.

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
        """How to run the program, where that is known."""

    @classmethod
    def from_file(
        cls: type[_Self], uri: str | BenchmarkUri, path: str | Path, **kwargs: Any
    ) -> _Self:
        """Return the program in the file `path`; raise `BenchmarkInitError` if unreadable."""
        try:
            return cls(uri, read_regular(path), **kwargs)
        except OSError as error:
            raise program_unreadable(path, error) from error

    @classmethod
    def from_file_contents(
        cls: type[_Self], uri: str | BenchmarkUri, data: bytes, **kwargs: Any
    ) -> _Self:
        """Return the program `data`."""
        return cls(uri, data, **kwargs)

    @property
    def uri(self) -> BenchmarkUri:
        """The address, with the query parameters it was asked for with."""
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
        """How the program is to be used: the query of the address, one value per key."""
        return self._uri.parameters

    def encode_run(self) -> bytes:
        """Return `run` as bytes for a worker; empty where the worker knows it from the address."""
        return b"" if self.run is None else pack_run(self.run)

    @property
    def sources(self) -> Iterable[BenchmarkSource]:
        """The source files, where they are known."""
        return tuple(self._sources)

    def add_source(self, source: BenchmarkSource | tuple[str, bytes]) -> None:
        """Attach one more source file."""
        self._sources.append(BenchmarkSource(*source))

    def write_sources_to_directory(self, directory: str | Path) -> int:
        """Write the source files below `directory` and return how many there were.

        A file whose name would leave the directory raises `BenchmarkInitError`
        before any is written.
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
        """Return every check: the program's runs where they are known, then those added."""
        return [*([runs_as_expected] if self.run is not None else []), *self._callbacks]

    def add_validation_callback(self, validation_callback: ValidationCallback) -> None:
        """Add a check that `validate` calls with the environment."""
        self._callbacks.append(validation_callback)

    def is_validatable(self) -> bool:
        """Return whether the program has at least one validation callback."""
        return bool(self.validation_callbacks())

    def ivalidate(self, env: Any) -> Iterator[Any]:
        """Yield each finding of each callback as soon as it is made.

        Raises `ValidationUnavailableError` if the program says how it is run and `env`
        cannot run it: a check that was not made is no check that was passed. Raises
        `InvalidParameterError` for a callback that returns something else than findings.
        """
        for callback in self.validation_callbacks():
            yield from collect_findings(callback, env)

    def validate(self, env: Any) -> list[Any]:
        """Return the findings of every callback; none means that the program is sound.

        Raises `ValidationUnavailableError` as `ivalidate` does.
        """
        return list(self.ivalidate(env))

    def with_uri(self: _Self, uri: BenchmarkUri) -> _Self:
        """Return the same program under another address."""
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
    """A program with the one source file that it was made from.

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
    """Return what `callback` says of `env`; raise `InvalidParameterError` if that is no list.

    >>> collect_findings(lambda env: None, "env"), collect_findings(lambda env: "too long", "env")
    ([], ['too long'])
    """
    found: Any = callback(env)
    if found is None:
        return []
    if isinstance(found, (str, ValidationError)):
        return [found]
    try:
        return list(found)
    except TypeError as error:
        name = getattr(callback, "__name__", callback)
        raise InvalidParameterError(
            f"the validation callback {name} returned {found!r}: expected a list of what is wrong, "
            "empty or None if nothing is"
        ) from error


def runs_as_expected(env: RunsPrograms) -> Iterable[Any]:
    """Return what is wrong with the program that `env` holds when it is run."""
    try:
        errors = env.behaviour_errors
    except AttributeError:
        raise ValidationUnavailableError(
            f"expected an environment with `behaviour_errors`, which runs its program, found {env}"
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
        raise BenchmarkInitError(f"a source file would leave its directory: {filename!r}")
