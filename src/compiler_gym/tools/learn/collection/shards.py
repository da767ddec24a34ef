# SPDX-License-Identifier: MIT
"""A shard: a Parquet file with a single writer, which exists only once it is complete."""

import io
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import gymnasium

from compiler_gym.errors import CacheError, RecordingError
from compiler_gym.files import replace_file, writing
from compiler_gym.tools.learn.collection.columns import STATE, CollectedRows, Layout, arrow
from compiler_gym.wrappers import EpisodeRecord

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


class ShardWriter:
    """An `EpisodeSink` that writes the episodes of a shard to the file `path`.

    Use it in a ``with`` block. The file appears when the block ends without an error.
    """

    def __init__(
        self, path: Path, layout: Layout, spaces: Mapping[str, gymnasium.Space[Any]]
    ) -> None:
        self._path = path
        self._rows = CollectedRows(layout, spaces)
        is_large = any(
            f.kind in ("text", "bytes", "json") and f.column != STATE for f in layout.fields
        )
        self._most = _LARGE_ROWS_OF_A_GROUP if is_large else _ROWS_OF_A_GROUP
        self._open = ExitStack()
        # Encoded in memory, because the writer of pyarrow does not survive a full disk.
        self._encoded = io.BytesIO()
        self._writer: Any = arrow(".parquet").ParquetWriter(
            self._encoded, layout.schema, compression="zstd"
        )
        with writing(path, RecordingError):
            partial = self._open.enter_context(replace_file(path))
            self._file = self._open.enter_context(partial.open("wb"))

    def add(self, episode: EpisodeRecord, number: int) -> None:
        """Add an episode of run `number`."""
        self._rows.add(episode, number)
        if len(self._rows) >= self._most:
            self.flush()

    def flush(self) -> None:
        """Write the episodes so far as a row group; raise `RecordingError` if that fails."""
        if len(self._rows):
            table = self._rows.take()
            self._writer.write_table(table, row_group_size=len(table))
            self._hand_on()

    def close(self) -> None:
        """Write the remaining rows and publish the file. Calling it twice is fine."""
        self.flush()
        self._writer.close()
        self._hand_on()
        with writing(self._path, RecordingError):
            self._open.close()

    def for_copy(self) -> None:
        """Return None: a shard has one writer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self._drop()

    def _hand_on(self) -> None:
        """Append the encoded bytes to the file."""
        with writing(self._path, RecordingError):
            self._file.write(self._encoded.getvalue())
        self._encoded.seek(0)
        self._encoded.truncate()

    def _drop(self) -> None:
        """Remove the partial file, unless it is complete."""
        error = RecordingError(f"{self._path} was not written")
        with suppress(RecordingError, OSError):
            self._open.__exit__(RecordingError, error, None)


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
