# SPDX-License-Identifier: MIT
"""A shard: a Parquet file with a single writer, which exists only once it is complete."""

import io
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import gymnasium

from compiler_gym.errors import CacheError, RecordingError
from compiler_gym.files import hash_file, is_intact, replace_file, seal, writing
from compiler_gym.tools.learn.collection.columns import STATE, CollectedRows, Layout, arrow
from compiler_gym.wrappers import EpisodeRecord

__all__ = ["Shard", "ShardWriter", "describe", "reading"]

_ROWS_OF_A_GROUP = 16_384
_LARGE_ROWS_OF_A_GROUP = 256
"""The same, for rows that may hold a whole program as text."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The size of a shard and its failures: a line of the manifest."""

    rows: int
    transitions: int
    """Steps that did not fail."""
    episodes: int
    bytes: int
    sha256: str
    failures: dict[str, int] = field(default_factory=dict[str, int])
    """The number of failed steps by error class."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields and their digest."""
        return seal(asdict(self))

    @classmethod
    def from_json(cls, fields: Mapping[str, Any], path: Path) -> Self:
        """Return the manifest's entry for the shard `path`; raise `CacheError` if damaged."""
        try:
            if is_intact(fields):
                return cls(**{name: value for name, value in fields.items() if name != "seal"})
            reason = "its digest differs"
        except TypeError as error:
            reason = str(error)
        raise CacheError(
            f"the line of {path.name} in the manifest is damaged ({reason}); delete it from "
            f"{path.parents[1] / 'episodes.jsonl'} and resume the collection"
        )

    def check(self, path: Path) -> None:
        """Raise `CacheError` if the file `path` has changed since it was written."""
        with reading(path):
            if path.stat().st_size != self.bytes or hash_file(path) != self.sha256:
                raise CacheError(
                    f"{path} is damaged: its digest differs from the manifest; delete it and "
                    "resume the collection"
                )


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
    """Return the manifest entry of a shard from its rows; raise `CacheError` for a damaged file."""
    with reading(path):
        with arrow(".parquet").ParquetFile(path) as file:
            Layout.read(file.schema_arrow)
            table = file.read(["step", "action", "error"])
        failures: Counter[str] = Counter(table["error"].drop_null().to_pylist())
        compute = arrow(".compute")
        is_transition = compute.and_(table["action"].is_valid(), table["error"].is_null())
        transitions = compute.sum(is_transition).as_py() or 0
        episodes = compute.sum(compute.equal(table["step"], 0)).as_py() or 0
    return Shard(
        rows=len(table),
        transitions=transitions,
        episodes=episodes,
        bytes=path.stat().st_size,
        sha256=hash_file(path),
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
