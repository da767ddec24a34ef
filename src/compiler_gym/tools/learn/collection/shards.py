# SPDX-License-Identifier: MIT
"""A shard: the columns of its rows, the episodes in them, and its Parquet file.

A row is a state and the step that the policy took there. The last row of an episode is its final
state, without a step. A failed step is a row with an error, and the last row of its episode,
because the resulting state is unknown. A shard has a single writer, and its file exists only once
it is complete.
"""

import importlib
import io
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import gymnasium
import msgspec
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CacheError, InvalidParameterError, RecordingError
from compiler_gym.files import replace_file, writing
from compiler_gym.spaces import Scalar, action_text, to_plain
from compiler_gym.spaces import Sequence as SequenceSpace
from compiler_gym.version import install_hint
from compiler_gym.wrappers import EpisodeRecord, StepRecord, write_json_text

_METADATA = b"compiler_gym"
_STEP = (
    *(("run", "int64"), ("episode", "int32"), ("step", "int32"), ("benchmark", "string")),
    *(("action_space", "string"), ("action", "string"), ("action_number", "int32")),
    *(("no_effect", "bool_"), ("terminated", "bool_"), ("truncated", "bool_")),
    *(("error", "string"), ("error_details", "string"), ("seed", "int64")),
)
"""The columns of every collection, besides rewards and observations."""
STATE, NEXT_STATE = "state", "next_state"


class NamedStep(StepRecord):
    """A step with the name of its action."""

    name: str = ""


def arrow(part: str = "") -> Any:
    """Return the module ``pyarrow`` or a submodule; raise `InvalidParameterError` if missing."""
    try:
        return importlib.import_module(f"pyarrow{part}")
    except ImportError as error:
        raise InvalidParameterError(
            f"collections are Parquet files, which need pyarrow: {install_hint('parquet')}"
        ) from error


@dataclass(frozen=True, slots=True)
class Field:
    """An observation of each state, and the column that stores it."""

    name: str
    """The name of the observation."""
    column: str
    kind: str
    """``number``, ``array`` (of one shape), ``list`` (of any length), ``text``, ``bytes`` or
    ``json``."""
    dtype: str = ""
    """The NumPy name of the number type."""
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, name: str, column: str, space: gymnasium.Space[Any]) -> "Field":
        """Return the field for the values of `space`."""
        dtype: Any = cast("Any", space).dtype
        number = dtype is not None and dtype.kind in "biuf"
        shape: tuple[int, ...] | None = space.shape
        is_box = isinstance(space, gymnasium.spaces.Box)
        if isinstance(space, Scalar) or (number and shape == ()):
            return cls(name, column, "number", np.dtype(dtype).name)
        if number and is_box and min(shape or (0,)) > 0:
            return cls(name, column, "array", np.dtype(dtype).name, shape or ())
        if number and isinstance(space, SequenceSpace):
            return cls(name, column, "list", np.dtype(dtype).name)
        if dtype is not None and dtype.kind in "US":
            return cls(name, column, "text" if dtype.kind == "U" else "bytes")
        return cls(name, column, "json")

    def type(self, pa: Any) -> Any:
        """Return the Arrow type of the column."""
        if self.kind in ("text", "json"):
            return pa.string()
        if self.kind == "bytes":
            return pa.binary()
        number = pa.from_numpy_dtype(np.dtype(self.dtype))
        if self.kind == "array":
            return pa.list_(number, int(np.prod(self.shape)))
        return pa.list_(number) if self.kind == "list" else number

    def encode(self, pa: Any, values: list[Any], space: gymnasium.Space[Any]) -> Any:
        """Return the column of `values`; None marks an unknown state."""
        if self.kind == "array" and not any(value is None for value in values):
            flat = np.concatenate([np.ravel(value) for value in values] or [np.empty(0)])
            numbers = pa.array(flat.astype(self.dtype, copy=False))
            return pa.FixedSizeListArray.from_arrays(numbers, int(np.prod(self.shape)))
        if self.kind == "array":
            values = [None if value is None else np.ravel(value) for value in values]
        if self.kind == "json":
            values = [None if value is None else json_text(space, value) for value in values]
        return pa.array(values, self.type(pa))

    def decode(self, column: Any) -> "NDArray[Any] | list[Any]":
        """Return the values of an Arrow array: an array of numbers, or a list of other values."""
        if self.kind == "array" and not column.null_count:
            numbers = column.flatten().to_numpy(zero_copy_only=False)
            return numbers.reshape(-1, *self.shape)
        if self.kind == "number" and not column.null_count:
            return column.to_numpy(zero_copy_only=False)
        values = column.to_pylist()
        if self.kind == "json":
            return [None if value is None else json.loads(value) for value in values]
        if self.kind in ("array", "list"):
            shape = self.shape or (-1,)
            return [
                None if v is None else np.asarray(v, dtype=self.dtype).reshape(shape)
                for v in values
            ]
        return values


@dataclass(frozen=True)
class Layout:
    """The observations and rewards in the rows of a collection."""

    fields: tuple[Field, ...]
    """The observations of each state, beginning with its hash if it has one."""
    rewards: tuple[str, ...]
    """The names of the rewards; each has a column ``reward_NAME``."""

    @classmethod
    def of(cls, env: CompilerEnv, observed: Sequence[str], rewards: Sequence[str]) -> "Layout":
        """Return the layout for observations and rewards of `env`."""
        key = env.state_observation
        return cls(
            tuple(
                Field.of(name, STATE if name == key else name, env.observation.spec(name).space)
                for name in observed
            ),
            tuple(rewards),
        )

    @classmethod
    def read(cls, schema: Any) -> "Layout":
        """Return the layout in the metadata of a shard; raise `CacheError` if it is missing."""
        try:
            metadata: dict[bytes, bytes] = schema.metadata or {}
            return msgspec.json.decode(metadata[_METADATA], type=cls)
        except (KeyError, msgspec.MsgspecError) as error:
            raise CacheError(
                f"the file is not a shard of a collection: its metadata is invalid: {error!r}"
            ) from error

    @cached_property
    def has_state(self) -> bool:
        """True if each state has a hash."""
        return any(field.column == STATE for field in self.fields)

    @cached_property
    def schema(self) -> Any:
        """The Arrow schema of a shard."""
        pa = arrow()
        columns = [(name, getattr(pa, kind)()) for name, kind in _STEP]
        columns += [(f"reward_{name}", pa.float64()) for name in self.rewards]
        for field in self.fields:
            columns.append((field.column, field.type(pa)))
            if field.column == STATE:
                columns.append((NEXT_STATE, field.type(pa)))
        layout = {"fields": [asdict(field) for field in self.fields], "rewards": self.rewards}
        return pa.schema(columns, metadata={_METADATA: json.dumps(layout)})

    def episodes(self, table: Any) -> Iterator[tuple[int, EpisodeRecord]]:
        """Yield the episodes in the rows of `table`, each with the number of its run."""
        names = table.column_names
        plain = {name: table[name].to_pylist() for name, _ in _STEP if name in names}
        earned = [table[f"reward_{name}"].to_pylist() for name in self.rewards]
        observed = [field.decode(table[field.column].combine_chunks()) for field in self.fields]
        states = list(zip(*observed, strict=True)) if observed else [()] * table.num_rows
        starts = [row for row, step in enumerate(plain["step"]) if step == 0]
        for begin, end in zip(starts, [*starts[1:], table.num_rows], strict=True):
            record = EpisodeRecord(
                plain["benchmark"][begin],
                plain["action_space"][begin],
                "",
                plain["seed"][begin],
                states[begin],
            )
            record.steps = [
                NamedStep(
                    _actions_from(plain["action"][row], plain["action_number"][row]),
                    _one_or_all([column[row] for column in earned]),
                    terminated=plain["terminated"][row],
                    truncated=plain["truncated"][row],
                    no_effect=plain["no_effect"][row],
                    error=plain["error_details"][row],
                    observation=states[row + 1] if row + 1 < end else None,
                    error_type=plain["error"][row],
                    name=plain["action"][row] or "",
                )
                for row in range(begin, end)
                if plain["action"][row] is not None or plain["error"][row] is not None
            ]
            yield plain["run"][begin], record


class CollectedRows:
    """Rows that are not written yet, as a list for each column.

    Args:
        layout: The columns.
        spaces: The spaces of the observations, by name.
    """

    def __init__(self, layout: Layout, spaces: Mapping[str, gymnasium.Space[Any]]) -> None:
        self._layout = layout
        self._spaces = spaces
        self._last: tuple[int, int] = (-1, -1)
        self._columns: dict[str, list[Any]] = {name: [] for name in layout.schema.names}

    def __len__(self) -> int:
        return len(self._columns["run"])

    def add(self, episode: EpisodeRecord, number: int) -> None:
        """Add the rows of an episode of run `number`; episodes of a run must be consecutive."""
        run, before = self._last
        self._last = number, before + 1 if run == number else 0
        steps, columns = episode.steps, self._columns
        failed = bool(steps) and steps[-1].error_type is not None
        count = len(steps) + (not failed)
        final: list[Any] = [] if failed else [None]
        columns["run"] += [number] * count
        columns["episode"] += [self._last[1]] * count
        columns["step"] += range(count)
        columns["benchmark"] += [episode.benchmark] * count
        columns["action_space"] += [episode.action_space] * count
        columns["seed"] += [episode.seed] * count
        columns["action"] += [_action_name(step) for step in steps] + final
        columns["action_number"] += [_action_number(step) for step in steps] + final
        for name in ("no_effect", "terminated", "truncated"):
            columns[name] += [getattr(step, name) for step in steps] + [False] * len(final)
        columns["error"] += [step.error_type for step in steps] + final
        columns["error_details"] += [step.error for step in steps] + final
        for index, name in enumerate(self._layout.rewards):
            columns[f"reward_{name}"] += [_find_reward(step, index) for step in steps] + final
        states = [episode.observation, *(step.observation for step in steps)]
        for index, field in enumerate(self._layout.fields):
            values = [None if state is None else state[index] for state in states]
            columns[field.column] += values[:count]
            if field.column == STATE:
                columns[NEXT_STATE] += [*values[1:count], None]

    def take(self) -> Any:
        """Return the rows as an Arrow table and clear them."""
        pa = arrow()
        fields = {item.column: item for item in self._layout.fields}
        arrays: list[Any] = []
        for column in self._layout.schema:
            values = self._columns[column.name]
            field = fields.get(column.name)
            try:
                if field is None:
                    arrays.append(pa.array(values, column.type))
                else:
                    arrays.append(field.encode(pa, values, self._spaces[field.name]))
            except (TypeError, ValueError, OverflowError) as error:
                raise RecordingError(
                    f"cannot store {column.name} as {column.type}: {error}"
                ) from error
            values.clear()
        return pa.Table.from_arrays(arrays, schema=self._layout.schema)


def json_text(space: gymnasium.Space[Any], value: Any) -> str:
    """Return the JSON text of a value that has no column type."""
    plain = (dict, list, tuple, np.ndarray, np.generic)
    return write_json_text(
        to_plain(value) if isinstance(value, plain) else space.to_jsonable([value])[0]
    )


def _action_name(step: StepRecord) -> str | None:
    if not step.actions:
        return None
    return step.name if isinstance(step, NamedStep) else action_text(step.actions[0])


def _action_number(step: StepRecord) -> int | None:
    action = step.actions[0] if step.actions else None
    return action if isinstance(action, int) else None


def _actions_from(name: str | None, number: int | None) -> list[Any]:
    return [] if name is None else [name if number is None else number]


def _one_or_all(values: list[float]) -> float | list[float] | None:
    return None if not values else values[0] if len(values) == 1 else values


def _find_reward(step: StepRecord, index: int) -> float | None:
    reward = step.reward
    return cast("float | None", reward[index] if isinstance(reward, list) else reward)


AddEpisode = Callable[[EpisodeRecord, int], None]
"""A function that takes an episode and the number of its run."""
_ROWS_OF_A_GROUP = 16_384
_LARGE_ROWS_OF_A_GROUP = 256
"""The same, for rows that may hold a whole program as text."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The size of a shard and its failures."""

    transitions: int
    """Steps that did not fail."""
    episodes: int
    bytes: int
    failures: dict[str, int]
    """The number of failed steps by error class."""


@contextmanager
def write_shard(
    path: Path, layout: Layout, spaces: Mapping[str, gymnasium.Space[Any]]
) -> Generator[AddEpisode]:
    """Yield a function that adds an episode to the shard `path`, with the number of its run.

    The file appears when the block ends without an error. Raises `RecordingError` if it cannot be
    written.
    """
    large = {"text", "bytes", "json"}
    is_large = any(f.kind in large and f.column != STATE for f in layout.fields)
    most = _LARGE_ROWS_OF_A_GROUP if is_large else _ROWS_OF_A_GROUP
    rows = CollectedRows(layout, spaces)
    # Encoded in memory, because the writer of pyarrow does not survive a full disk.
    encoded = io.BytesIO()
    writer = arrow(".parquet").ParquetWriter(encoded, layout.schema, compression="zstd")
    with writing(path, RecordingError), replace_file(path) as partial, partial.open("wb") as file:

        def flush() -> None:
            if len(rows):
                table = rows.take()
                writer.write_table(table, row_group_size=len(table))
            with writing(path, RecordingError):
                file.write(encoded.getvalue())
            encoded.seek(0)
            encoded.truncate()

        def add(episode: EpisodeRecord, number: int) -> None:
            rows.add(episode, number)
            if len(rows) >= most:
                flush()

        yield add
        flush()
        writer.close()
        flush()


def describe(path: Path) -> Shard:
    """Return the size of a shard from its rows; raise `CacheError` for a damaged file."""
    with reading(path):
        with arrow(".parquet").ParquetFile(path) as file:
            Layout.read(file.schema_arrow)
            table = file.read(["step", "action", "error"])
        failures = Counter[str](table["error"].drop_null().to_pylist())
        compute = arrow(".compute")
        actions = compute.and_(table["action"].is_valid(), table["error"].is_null())
        return Shard(
            transitions=compute.sum(actions).as_py() or 0,
            episodes=compute.sum(compute.equal(table["step"], 0)).as_py() or 0,
            bytes=path.stat().st_size,
            failures=dict(sorted(failures.items())),
        )


@contextmanager
def reading(path: Path) -> Generator[None]:
    """Raise `CacheError` if reading the shard `path` fails in the block."""
    try:
        yield
    except CacheError:
        raise
    except (arrow().ArrowException, OSError, ValueError) as error:
        raise CacheError(
            f"{path} is damaged ({error}); delete it and resume the collection"
        ) from error
