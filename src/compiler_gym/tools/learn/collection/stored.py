# SPDX-License-Identifier: MIT
"""Reads a collection: as an Arrow dataset, as episodes, or as batches of transitions.

A transition is a step that did not fail: the state before it and the state after. Batches are
read shard by shard, so that a collection may be larger than memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import CacheError, InvalidParameterError, UnknownNameError, unknown_name
from compiler_gym.tools.learn.collection.collecting import (
    CollectionSummary,
    read_manifest,
    read_options,
    summarise_collection,
)
from compiler_gym.tools.learn.collection.columns import Layout, arrow
from compiler_gym.tools.learn.collection.replaying import ReplayDifference, differences_in
from compiler_gym.tools.learn.collection.shards import Shard, reading
from compiler_gym.wrappers import EpisodeRecord

__all__ = ["Batch", "Collection"]

Batch = Mapping[str, NDArray[Any]]
"""Values by the name of their column, a row for each transition."""
_NEXT = "next_"


class Collection:
    """The collection in a folder, complete or not.

    Raises `InvalidParameterError` where `path` is no folder of `collect`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.options = read_options(path)
        """What it was told."""
        self._intact: set[Path] = set()

    @property
    def summary(self) -> CollectionSummary:
        """How much it holds, and which failures."""
        return summarise_collection(self.path)

    @cached_property
    def shards(self) -> list[Path]:
        """The files, in the order of their runs; raise `CacheError` if there is none yet."""
        return list(self._manifest)

    @cached_property
    def _manifest(self) -> dict[Path, Shard]:
        found = read_manifest(self.path)
        if not found:
            raise CacheError(f"{self.path} holds no complete shard: resume the collection")
        return found

    @cached_property
    def layout(self) -> Layout:
        """What the columns hold."""
        path = self._check_shard(self.shards[0])
        with reading(path):
            return Layout.read(arrow(".parquet").read_schema(path))

    def dataset(self) -> Any:
        """Return a `pyarrow.dataset.Dataset` of all rows."""
        return arrow(".dataset").dataset([str(self._check_shard(path)) for path in self.shards])

    def episodes(self) -> Iterator[tuple[int, EpisodeRecord]]:
        """Yield every episode with the number of its run, as the policy played it.

        What is observed of a state is a tuple, in the order of ``layout.fields``.
        """
        for path in self.shards:
            for table in self._row_groups(path):
                yield from self.layout.episodes(table)

    def transitions(
        self,
        columns: Sequence[str] | None = None,
        *,
        batch_size: int = 1024,
        seed: int | None = None,
        epoch: int = 0,
        buffer: int = 65_536,
        part: tuple[int, int] = (0, 1),
    ) -> Iterator[Batch]:
        """Yield batches of transitions, each with the number of its rows that was asked for.

        Args:
            columns: Columns of the shards, and ``next_NAME`` for what was observed of the next
                state; None takes the number of the action, the rewards, the end, and every
                number and array that was observed, before and after.
            batch_size: The rows of a batch; the last one has what is left.
            seed: Shuffles: the shards are read in a random order, and `buffer` transitions are
                mixed at a time. None keeps the order.
            epoch: With the same seed, another epoch has another order.
            buffer: How many transitions are held in memory to be mixed.
            part: ``(i, n)`` reads the i-th of n parts, which share no shard.

        Raises:
            UnknownNameError: There is no such column.
            InvalidParameterError: The part, the batch or the buffer is no such thing.
        """
        index, count = part
        if not 0 <= index < count or min(batch_size, buffer) < 1:
            raise InvalidParameterError(
                f"part is {part}, batch_size {batch_size}, buffer {buffer}: expected a number "
                "below the number of parts, and sizes above 0"
            )
        names = self._check_columns(columns)
        shards = list(self.shards)
        if seed is None:
            read = (
                self._of_group(g, names) for p in shards[index::count] for g in self._row_groups(p)
            )
            return _cut_into(read, batch_size)
        np.random.default_rng([seed, epoch]).shuffle(shards)  # type: ignore[arg-type]  # a list
        read = (self._of_group(g, names) for p in shards[index::count] for g in self._row_groups(p))
        generator = np.random.default_rng([seed, epoch, index])
        return _cut_into(_mix_rows(read, buffer, generator), batch_size)

    def verify(self, sample: int = 20, *, seed: int = 0) -> list[ReplayDifference]:
        """Play `sample` episodes again, drawn at random, and return what came out differently.

        Raises `CacheError` where the file of any shard was damaged.
        """
        generator = np.random.default_rng(seed)
        manifest = read_manifest(self.path)
        for path, shard in manifest.items():
            shard.check(path)
        sizes = {path: shard.episodes for path, shard in manifest.items()}
        total = sum(sizes.values())
        chosen = set(generator.choice(total, size=min(sample, total), replace=False).tolist())
        found: list[ReplayDifference] = []
        before = 0
        for path, size in sizes.items():
            own = {number - before for number in chosen if before <= number < before + size}
            before += size
            if own:
                episodes = (one for g in self._row_groups(path) for one in self.layout.episodes(g))
                drawn = [one for place, one in enumerate(episodes) if place in own]
                found += differences_in(drawn, self.layout, self.options)
        return found

    def _row_groups(self, path: Path) -> Iterator[Any]:
        """Yield the groups of rows of a shard, each with whole episodes."""
        with reading(self._check_shard(path)), arrow(".parquet").ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                # One thread: a process that was forked, as a loader's is, has no others.
                yield file.read_row_group(group, use_threads=False)

    def _check_shard(self, path: Path) -> Path:
        """Return `path`; raise `CacheError` if the file was damaged. Each is read once for it."""
        if path not in self._intact:
            self._manifest[path].check(path)
            self._intact.add(path)
        return path

    def _check_columns(self, columns: Sequence[str] | None) -> list[str]:
        """Return the columns that were asked for, or the usual ones."""
        layout = self.layout
        later = {f"{_NEXT}{one.column}" for one in layout.fields}
        known = {*layout.schema.names, *later}
        if columns is None:
            plain = [one.column for one in layout.fields if one.kind in ("number", "array")]
            rewards = [f"reward_{name}" for name in layout.rewards]
            after = [f"{_NEXT}{name}" for name in plain]
            return ["action_number", *rewards, "terminated", *plain, *after]
        for name in columns:
            if name not in known:
                raise UnknownNameError(unknown_name("column", name, known))
        return list(columns)

    def _of_group(self, table: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return the transitions among rows, whose episodes are whole."""
        compute = arrow(".compute")
        is_step = compute.and_(table["action"].is_valid(), table["error"].is_null())
        rows = np.flatnonzero(is_step.to_numpy())
        fields = {one.column: one for one in self.layout.fields}
        found: dict[str, NDArray[Any]] = {}
        for name in names:
            column = name if name in table.column_names else name.removeprefix(_NEXT)
            array = table[column].take(rows if column == name else rows + 1).combine_chunks()
            field = fields.get(column)
            values = array.to_numpy(zero_copy_only=False) if field is None else field.decode(array)
            found[name] = values if isinstance(values, np.ndarray) else _object_array(values)
        return found


def _object_array(values: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _join_batches(parts: Sequence[Batch]) -> dict[str, NDArray[Any]]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _batch_length(batch: Batch) -> int:
    return len(next(iter(batch.values()), ()))


def _mix_rows(
    read: Iterator[Batch], buffer: int, generator: np.random.Generator
) -> Iterator[Batch]:
    """Yield the same rows in another order: half of a full buffer is handed out at a time."""
    held: list[Batch] = []
    for batch in read:
        held.append(batch)
        if sum(map(_batch_length, held)) >= buffer:
            whole = _join_batches(held)
            order = generator.permutation(_batch_length(whole))
            half = len(order) // 2
            yield {name: values[order[half:]] for name, values in whole.items()}
            held = [{name: values[order[:half]] for name, values in whole.items()}]
    if held:
        whole = _join_batches(held)
        order = generator.permutation(_batch_length(whole))
        yield {name: values[order] for name, values in whole.items()}


def _cut_into(read: Iterator[Batch], size: int) -> Iterator[Batch]:
    """Yield the same rows in batches of `size`."""
    held: list[Batch] = []
    for batch in read:
        held.append(batch)
        if sum(map(_batch_length, held)) < size:
            continue
        whole = _join_batches(held)
        end = _batch_length(whole) // size * size
        for begin in range(0, end, size):
            yield {name: values[begin : begin + size] for name, values in whole.items()}
        held = [{name: values[end:] for name, values in whole.items()}]
    if held and _batch_length(held[0]):
        yield _join_batches(held)
