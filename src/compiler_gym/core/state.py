# SPDX-License-Identifier: MIT
"""The record of an episode that is enough to replay it.

A state names the program, the command line and the versions of the library and of the compiler.
It contains neither the program nor the compiler.

Files of states are CSV in the format of CompilerGym 0.2.5, or JSON lines with every field. CSV has
only the program, the reward, the time and the command line, so that tools for 0.2.5 can read it. A
reader accepts both. It yields the states before a damaged or missing line, and then reports the
number of that line. It also reads the results of ``compiler-gym search --output``.
"""

import csv
import io
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Self, TextIO, cast

from compiler_gym.errors import InvalidParameterError, StateFileError, StateFileNotFoundError
from compiler_gym.errors.records import Record
from compiler_gym.files import read_regular

_SAME_REWARD = 1e-5


class StateVersionWarning(UserWarning):
    """A state is replayed with another version of the compiler than it was recorded with."""


@dataclass(frozen=True, slots=True)
class CompilerEnvState(Record):
    """One episode so far.

    Two are equal if they are the same point of the search: program, command line and
    reward, to 1e-5 as in CompilerGym 0.2.5. The reward counts if both have one. The time
    does not count. Raises `ValueError` for invalid fields.

    >>> CompilerEnvState(benchmark="cbench-v1/qsort").benchmark
    'benchmark://cbench-v1/qsort'
    """

    benchmark: str = ""
    """The URI of the program, in canonical form."""
    commandline: str = ""
    """The actions, as the action space writes them."""
    walltime: float = 0.0
    """Seconds since the reset; never negative."""
    reward: float | None = None
    """The sum of the episode's rewards, if a reward space was set."""
    action_space: str | None = None
    """The name of the action space."""
    reward_space: str | None = None
    """The name of the reward space that `reward` is in."""
    environment: str | None = None
    """The id that makes the environment, for example ``llvm-v0``."""
    goal: str | None = None
    """The optimisation goal, if the compiler has goals."""
    version: str | None = None
    """The version of this library."""
    compiler_version: str | None = None
    """The version of the compiler."""
    state_hash: str | None = None
    """A hash of the program at this state, if the compiler provides one."""
    varying_actions: tuple[str, ...] | None = None
    """The names of the actions whose results vary from run to run, each once; None if there are
    none. With one of them, a replay may lead to another program."""

    def __post_init__(self) -> None:
        from compiler_gym.datasets import BenchmarkUri

        if not self.benchmark:
            raise ValueError("a state needs a benchmark: its URI is empty")
        _require("benchmark", self.benchmark, (str, BenchmarkUri), "the URI of a program")
        _require("commandline", self.commandline, str, "text")
        _require("walltime", self.walltime, Real, "a finite number >= 0")
        _require("reward", self.reward, (Real, type(None)), "a number or None")
        object.__setattr__(self, "benchmark", BenchmarkUri.canonicalize(self.benchmark))
        if self.varying_actions is not None:  # JSON has lists
            object.__setattr__(self, "varying_actions", tuple(self.varying_actions))
        if not 0 <= self.walltime < math.inf:
            raise ValueError(f"walltime must be a finite number >= 0 (got {self.walltime})")

    @property
    def has_reward(self) -> bool:
        """True if a reward was recorded."""
        return self.reward is not None

    @property
    def is_repeatable(self) -> bool:
        """True if a replay leads to the same program: the results of no action vary."""
        return not self.varying_actions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompilerEnvState):
            return NotImplemented
        if (self.benchmark, self.commandline) != (other.benchmark, other.commandline):
            return False
        if self.reward is None or other.reward is None:
            return True
        return self.reward == other.reward or abs(self.reward - other.reward) < _SAME_REWARD

    def __hash__(self) -> int:
        return hash((self.benchmark, self.commandline))


def require_state(value: object) -> None:
    """Raise `InvalidParameterError` unless `value` is a `CompilerEnvState`."""
    if not isinstance(value, CompilerEnvState):
        raise InvalidParameterError(
            f"{value!r:.80} is not a state: pass a CompilerEnvState, such as env.state or "
            "the result of CompilerEnvState.parse_raw(text) or CompilerEnvStateReader"
        )


def _require(name: str, value: object, kinds: type | tuple[type, ...], expected: str) -> None:
    if not isinstance(value, kinds):
        raise ValueError(f"{name} must be {expected} (got {value!r:.80})")


COLUMNS = ("benchmark", "reward", "walltime", "commandline")
"""The columns of a CSV file, in their order."""

_FIELDS = frozenset(field.name for field in fields(CompilerEnvState))
_URL = re.compile(r"^https?://", re.IGNORECASE)
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_SHOWN = 300
_MOST_CSV_BYTES = (1 << 31) - 1
"""The longest field: a command line of thousands of passes exceeds the default of `csv`."""


class CompilerEnvStateWriter:
    """Write states to an open file, as CSV or as JSON lines.

    >>> import io
    >>> file = io.StringIO()
    >>> with CompilerEnvStateWriter(file) as writer:
    ...     writer.write_state(CompilerEnvState("cbench-v1/qsort", "opt input.bc", 1.5, 0.5))
    ...     print(file.getvalue())
    benchmark,reward,walltime,commandline
    benchmark://cbench-v1/qsort,0.5,1.5,opt input.bc
    <BLANKLINE>
    """

    def __init__(
        self, f: TextIO, header: bool = True, *, format: Literal["csv", "jsonl"] | None = None
    ) -> None:
        """Write to `f`. Without `format`, a file name that ends in ``.jsonl`` means JSON lines."""
        self.f = f
        self.header = header
        """True if the line with the names of the columns is still to be written."""
        name = str(getattr(f, "name", "")).lower()
        self.format = format or ("jsonl" if name.endswith(_JSON_SUFFIXES) else "csv")
        """``csv`` or ``jsonl``."""
        if self.format not in ("csv", "jsonl"):
            raise StateFileError(f"format must be csv or jsonl (got {format!r})")

    def write_state(self, state: CompilerEnvState, flush: bool = False) -> None:
        """Write one state, and flush the file if `flush`."""
        if self.format == "jsonl":
            values = {key: value for key, value in asdict(state).items() if value is not None}
            self.f.write(json.dumps(values) + "\n")
        else:
            writer = csv.writer(self.f, lineterminator="\n")
            if self.header:
                writer.writerow(COLUMNS)
                self.header = False
            writer.writerow([getattr(state, column) for column in COLUMNS])
        if flush:
            self.f.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.f.close()


class CompilerEnvStateReader:
    """Read states from an open file: CSV, JSON lines, or the results of a search.

    Raises `StateFileError` at the first line that is not a state.

        >>> import io
        >>> [state.reward for state in CompilerEnvStateReader(io.StringIO(
        ...     "benchmark,reward,walltime,commandline\\ncbench-v1/qsort,0.5,1.5,opt input.bc\\n"
        ... ))]
        [0.5]
    """

    def __init__(self, f: TextIO) -> None:
        self.f = f

    def __iter__(self) -> Iterator[CompilerEnvState]:
        """Yield every state, in order."""
        name = str(getattr(self.f, "name", "the file"))
        try:
            text = self.f.read()
        except UnicodeError as error:
            raise StateFileError(f"{name} is not text: CSV or JSON lines are needed") from error
        except OSError as error:
            raise StateFileError(f"cannot read {name}: {error.strerror}") from error
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may
            raise StateFileError(f"{name} returns bytes: open the file as text")
        text = text.removeprefix("\ufeff")
        begin = text.lstrip()
        parse = _json_lines if begin.startswith("{") else _csv_rows
        if begin.partition("\n")[0].rstrip() == "{":  # one JSON document over several lines
            parse = _search_results
        yield from parse(text, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.f.close()

    @staticmethod
    def read_paths(paths: str | Path | Iterable[str | Path]) -> Iterator[CompilerEnvState]:
        """Yield the states of files: paths, addresses (``https://``) and ``-`` for standard input.

        Raises `StateFileError` for a file that cannot be opened and `DownloadFailed`
        for an address that does not answer.
        """
        for path in [paths] if isinstance(paths, (str, Path)) else paths:
            yield from _read(str(path))


def _read(path: str) -> Iterator[CompilerEnvState]:
    if path == "-":
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]  # where it was closed
            raise StateFileError("cannot read standard input: it is closed")
        yield from CompilerEnvStateReader(sys.stdin)
    elif _URL.match(path):
        from compiler_gym.datasets import download

        yield from CompilerEnvStateReader(_open_text(download(path), path))
    else:
        try:
            data = read_regular(Path(path).expanduser())
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            kind = StateFileNotFoundError if missing else StateFileError
            raise kind(f"cannot read {path}: {error.strerror}") from error
        except (RuntimeError, ValueError) as error:  # an unknown home, or an invalid file name
            raise StateFileError(f"cannot read {path[:_SHOWN]!r}: {error}") from error
        yield from CompilerEnvStateReader(_open_text(data, path))


def _open_text(data: bytes, name: str) -> TextIO:
    stream = io.BytesIO(data)
    stream.name = name
    return io.TextIOWrapper(stream, encoding="utf-8", newline="")


def _json_lines(text: str, name: str) -> Iterator[CompilerEnvState]:
    # Not `splitlines`: JSON may hold line separators of Unicode inside of its strings.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            document: Any = json.loads(line, parse_float=lambda text: _number("a number", text))
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", error)
            raise StateFileError(f"{where} is damaged or cut short: {reason}") from error
        if not isinstance(document, dict):
            raise StateFileError(f"{where} is not a state: it must be a JSON object")
        fields = cast("dict[str, Any]", document)
        yield _state({key: value for key, value in fields.items() if key in _FIELDS}, where)


def _search_results(text: str, name: str) -> Iterator[CompilerEnvState]:
    """Yield the states of the results of a search, without its times."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        reason = getattr(error, "msg", error)
        raise StateFileError(f"{name}, line {line} is damaged or cut short: {reason}") from error
    results = document.get("results")
    if not isinstance(results, list):
        keys = ", ".join(document)[:_SHOWN] or "nothing"
        raise StateFileError(
            f"{name} is not a file of states: use CSV, JSON lines, or the output of "
            f"`compiler-gym search --output` (got a JSON object with {keys})"
        )
    for number, result in enumerate(cast("list[Any]", results), start=1):
        where = f"{name}, result {number}"
        if not isinstance(result, dict):
            raise StateFileError(f"{where} is not a state: it must be a JSON object")
        fields = cast("dict[str, Any]", result)
        values = {key: value for key, value in fields.items() if key in _FIELDS}
        yield _state({"environment": document.get("env"), **values}, where)


def _csv_rows(text: str, name: str) -> Iterator[CompilerEnvState]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns: tuple[str, ...] = ()
    while True:
        where = f"{name}, line {rows.line_num + 1}"
        try:
            row = _next_row(rows)
        except csv.Error as error:
            raise StateFileError(f"{where} is damaged or cut short: {error}") from error
        if row is None:
            return
        if not row:
            continue
        if not columns:
            columns = _read_columns(row, where)
            if "benchmark" in row:
                continue
        if len(row) != len(columns):
            raise StateFileError(
                f"{where} is damaged or cut short: it has {len(row)} columns instead of "
                f"{len(columns)} ({', '.join(columns)})"
            )
        values: dict[str, Any] = dict(zip(columns, row, strict=True))
        yield _state({key: values[key] for key in values if key in _FIELDS}, where)


def _next_row(rows: Iterator[list[str]]) -> list[str] | None:
    default = csv.field_size_limit(_MOST_CSV_BYTES)  # a global setting: restore it
    try:
        return next(rows, None)
    finally:
        csv.field_size_limit(default)


def _read_columns(row: list[str], where: str) -> tuple[str, ...]:
    """Return the columns in the first line; the default ones if that is a state."""
    if "benchmark" in row:
        if "commandline" not in row:
            raise StateFileError(f"{where} has no column commandline: {', '.join(row)}")
        if len(set(row)) < len(row):
            raise StateFileError(f"{where} has a column twice: {', '.join(row)[:_SHOWN]}")
        return tuple(row)
    if len(row) == len(COLUMNS) and "/" in row[0]:
        return COLUMNS
    raise StateFileError(
        f"{where} is not a file of states: its columns must be {', '.join(COLUMNS)} "
        f"(got {len(row)} other columns)"
    )


def _state(values: dict[str, Any], where: str) -> CompilerEnvState:
    try:
        return state_from_fields(values)
    except ValueError as error:
        raise StateFileError(f"{where} is not a state: {str(error)[:_SHOWN]}") from error


def state_from_fields(values: Mapping[str, Any]) -> CompilerEnvState:
    """Return the state with the given fields, which come from a file.

    Numbers may be text, as in CSV, and an empty value counts as missing. Raises `ValueError` for
    an unknown field, for a wrong value, and without a benchmark.

        >>> state_from_fields({"benchmark": "cbench-v1/qsort", "reward": "0.5"}).reward
        0.5
    """
    plain: dict[str, Any] = {
        key: _READERS.get(key, _text)(key, value)
        for key, value in values.items()
        if value is not None and value not in ("", "None")
    }
    if unknown := sorted(plain.keys() - _FIELDS):
        raise ValueError(f"{', '.join(unknown)[:_SHOWN]} is not a field of a state")
    if "benchmark" not in plain:
        raise ValueError("a state needs a benchmark: it has none")
    return CompilerEnvState(**plain)


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{key} must be a number (got {value!r:.80})")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    # Some rewards are infinite and written as inf; other overflows are damage.
    if math.isinf(number) and not (isinstance(value, float) or "inf" in str(value).lower()[:5]):
        raise ValueError(f"{key} is too large: it must fit 64 bits")
    return number


def _names(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{key} must be a list of names (got {value!r:.80})")
    return tuple(_text(key, name) for name in cast("Sequence[Any]", value))


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key} must be text (got {value!r:.80})")
    value.encode()  # raises for a lone surrogate, which could not be written again
    return value


_READERS = {"reward": _number, "walltime": _number, "varying_actions": _names}
"""Readers of fields that are not text."""
