# SPDX-License-Identifier: MIT
"""A shard: a Parquet file with a single writer, which exists only once it is complete."""

import io
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

from compiler_gym.errors import CacheError, RecordingError
from compiler_gym.files import replace_file, writing
from compiler_gym.tools.learn.collection.columns import STATE, CollectedRows, Layout, arrow
from compiler_gym.wrappers import EpisodeRecord

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
