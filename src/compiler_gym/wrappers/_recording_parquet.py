# SPDX-License-Identifier: MIT
"""A Parquet file with a row for each step, written by a single recorder in one process."""

import io
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.files import lock_path, make_folder, open_appending, write_all
from compiler_gym.version import install_hint
from compiler_gym.wrappers._recording import EpisodeRecord, write_json_text

__all__ = ["ParquetFile"]


class ParquetFile:
    """A writer of the file `path`, which it locks until `close`.

    An existing file is overwritten when the first rows are written. Rows that `flush` cannot write
    are retried by the next `flush`.

    Raises:
        RecordingError: Another recorder is writing to the file.
    """

    def __init__(self, path: Path) -> None:
        self._arrow, parquet = _arrow()
        self._schema = _schema(self._arrow)
        self._path = path
        try:
            with make_folder(path.parent), ExitStack() as cleanup:
                self._lock = cleanup.enter_context(lock_path(path, wait=False))
                self._file = open_appending(path)
                cleanup.pop_all()
        except BlockingIOError as error:
            raise RecordingError(
                f"cannot record to {path}: another recorder is writing to it ({error.strerror}); "
                "close it, or record each environment to a separate file"
            ) from None
        # Encoded in memory, because the writer of pyarrow does not survive a full disk.
        self._encoded = io.BytesIO()
        self._writer = parquet.ParquetWriter(self._encoded, self._schema)
        self._written = 0
        self._has_rows = False

    def add(self, episode: EpisodeRecord, number: int) -> None:
        """Encode a row for each step, for `flush` to write. Does nothing in a forked process."""
        if self._lock.owner != os.getpid():
            return
        if not self._lock.is_held:
            raise RecordingError(f"{self._path} is closed; record further episodes to another file")
        try:
            table = self._arrow.Table.from_pylist(_rows(episode, number), self._schema)
        except (TypeError, ValueError) as error:
            raise RecordingError(
                f"cannot record an episode to {self._path}: {error}; JSON lines accept all values"
            ) from error
        self._writer.write_table(table)
        self._has_rows = True

    def flush(self) -> None:
        """Write the rows that are not in the file yet."""
        if self._lock.is_held and self._has_rows:
            self._write()

    def close(self) -> None:
        """Complete the file and unlock it. Calling it twice is fine."""
        if not self._lock.is_held:
            return
        try:
            self._writer.close()
            if self._has_rows or os.fstat(self._file).st_size == 0:
                self._write()
        finally:
            os.close(self._file)
            self._lock.release()

    def for_copy(self) -> None:
        """Return None: only one recorder writes to the file."""

    def _write(self) -> None:
        if os.fstat(self._file).st_size != self._written:
            os.ftruncate(self._file, self._written)
        data = self._encoded.getvalue()
        write_all(self._file, data)
        self._written += len(data)
        self._encoded.seek(0)
        self._encoded.truncate()


def _rows(episode: EpisodeRecord, number: int) -> list[dict[str, Any]]:
    return [
        {
            "episode": number,
            "step": index,
            "benchmark": episode.benchmark,
            "actions": write_json_text(step.actions),
            "reward": None if isinstance(step.reward, list) else step.reward,
            "rewards": step.reward if isinstance(step.reward, list) else None,
            "terminated": step.terminated,
            "truncated": step.truncated,
            "no_effect": step.no_effect,
            "error": step.error,
            "observation": None if before is None else write_json_text(before),
            "next_observation": None
            if step.observation is None
            else write_json_text(step.observation),
        }
        for index, (before, step) in enumerate(episode.transitions())
    ]


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # type: ignore[import-untyped]  # no stubs
        import pyarrow.parquet  # type: ignore[import-untyped]  # no stubs
    except ImportError as error:
        raise InvalidParameterError(
            f"Parquet files need pyarrow: {install_hint('parquet')}, or record to a .jsonl file"
        ) from error
    return pyarrow, pyarrow.parquet


def _schema(pa: Any) -> Any:
    return pa.schema(
        [
            ("episode", pa.int64()),
            ("step", pa.int32()),
            ("benchmark", pa.string()),
            ("actions", pa.string()),
            ("reward", pa.float64()),
            ("rewards", pa.list_(pa.float64())),
            ("terminated", pa.bool_()),
            ("truncated", pa.bool_()),
            ("no_effect", pa.bool_()),
            ("error", pa.string()),
            ("observation", pa.string()),
            ("next_observation", pa.string()),
        ]
    )
