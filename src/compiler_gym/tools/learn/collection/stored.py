# SPDX-License-Identifier: MIT
"""Read a collection as an Arrow dataset, as episodes or as batches of transitions; replay it.

A transition is a step that did not fail, with the states before and after. Batches are read shard
by shard, so that a collection may be larger than memory.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import (
    CacheError,
    CompilerGymError,
    InvalidParameterError,
    ServiceError,
    UnknownNameError,
    error_from_name,
    unknown_name,
)
from compiler_gym.files import hash_file, whole_lines
from compiler_gym.options import CollectOptions
from compiler_gym.spaces import action_names, value_from_json
from compiler_gym.tools.learn.collection.collecting import (
    CollectionSummary,
    list_shards,
    read_options,
    summarise_collection,
)
from compiler_gym.tools.learn.collection.playing import make_environment
from compiler_gym.tools.learn.collection.shards import (
    Layout,
    NamedStep,
    arrow,
    describe,
    json_text,
    reading,
)
from compiler_gym.wrappers import EpisodeRecord

Array = NDArray[Any]
Batch = Mapping[str, Array]
"""Values by column name, one row per transition."""
_NEXT = "next_"


_Space = gymnasium.Space[Any] | None


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A value that differs when an episode is replayed."""

    run: int
    benchmark: str
    step: int
    """The number of actions taken before."""
    column: str
    kept: Any
    found: Any

    def __str__(self) -> str:
        return (
            f"run {self.run}, {self.benchmark}, step {self.step}: {self.column} was recorded as "
            f"{self.kept!s:.60} but is now {self.found!s:.60}"
        )


class Collection:
    """The collection in a folder, complete or not.

    Raises `InvalidParameterError` if `path` is not a folder that `collect` wrote.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.options = read_options(path)
        """The options it was collected with."""
        self._intact: set[Path] = set()

    @property
    def summary(self) -> CollectionSummary:
        """The size of the collection, and its failures."""
        return summarise_collection(self.path)

    @cached_property
    def shards(self) -> list[Path]:
        """The files, in the order of their runs; raises `CacheError` if there are none yet."""
        if shards := list_shards(self.path):
            return shards
        raise CacheError(f"{self.path} holds no complete shard; resume the collection")

    @cached_property
    def _digests(self) -> dict[str, str]:
        """The digest of each shard in the folder's journal, by the name of its file."""
        lines = whole_lines(self.path / "episodes.jsonl")
        results = {str(line.get("key")): line.get("result") for line in lines}
        return {
            name: str(cast("dict[str, Any]", result).get("sha256"))
            for name, result in results.items()
            if isinstance(result, dict)
        }

    @cached_property
    def layout(self) -> Layout:
        """The layout of the columns."""
        path = self._check_shard(self.shards[0])
        with reading(path):
            return Layout.read(arrow(".parquet").read_schema(path))

    def dataset(self) -> Any:
        """Return a `pyarrow.dataset.Dataset` of all rows."""
        return arrow(".dataset").dataset([str(self._check_shard(path)) for path in self.shards])

    def episodes(self) -> Iterator[tuple[int, EpisodeRecord]]:
        """Yield every episode with the number of its run, as the policy played it.

        The observations of a state are a tuple in the order of ``layout.fields``.
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
        """Yield batches of `batch_size` transitions; the last one may be smaller.

        Args:
            columns: Columns of the shards, and ``next_NAME`` for an observation of the next
                state; None takes the number of the action, the rewards, ``terminated``, and
                every observed number and array, before and after.
            batch_size: The number of rows in a batch.
            seed: Shuffles with this seed: reads the shards in random order and mixes `buffer`
                transitions at a time. None keeps the order.
            epoch: Each epoch has its own order with the same seed.
            buffer: The number of transitions to mix in memory.
            part: ``(i, n)`` reads the i-th of n parts, which share no shard.

        Raises:
            UnknownNameError: There is no such column.
            InvalidParameterError: `part`, `batch_size` or `buffer` is out of range.
        """
        index, count = part
        if not 0 <= index < count or min(batch_size, buffer) < 1:
            raise InvalidParameterError(
                f"part {part} must be (i, n) with 0 <= i < n, and batch_size ({batch_size}) and "
                f"buffer ({buffer}) must be at least 1"
            )
        names = self._check_columns(columns)
        shards = list(self.shards)
        if seed is not None:
            np.random.default_rng([seed, epoch]).shuffle(shards)  # type: ignore[arg-type]  # a list
        parts = (self._select(g, names) for p in shards[index::count] for g in self._row_groups(p))
        if seed is not None:
            parts = _mix_rows(parts, buffer, np.random.default_rng([seed, epoch, index]))
        return _cut_into(parts, batch_size)

    def verify(self, sample: int = 20, *, seed: int = 0) -> list[ReplayDifference]:
        """Replay `sample` random episodes and return the differences.

        Raises `CacheError` if the file of any shard is damaged.
        """
        generator = np.random.default_rng(seed)
        sizes = {path: describe(self._check_shard(path)).episodes for path in self.shards}
        total = sum(sizes.values())
        drawn = set(generator.choice(total, size=min(sample, total), replace=False).tolist())
        differences: list[ReplayDifference] = []
        before = 0
        for path, size in sizes.items():
            own = {number - before for number in drawn if before <= number < before + size}
            before += size
            if own:
                episodes = (e for g in self._row_groups(path) for e in self.layout.episodes(g))
                sampled = [e for number, e in enumerate(episodes) if number in own]
                differences += differences_in(sampled, self.layout, self.options)
        return differences

    def _row_groups(self, path: Path) -> Iterator[Any]:
        """Yield the row groups of a shard, each with complete episodes."""
        with reading(self._check_shard(path)), arrow(".parquet").ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                # A forked process, such as a data loader's, does not have pyarrow's other threads.
                yield file.read_row_group(group, use_threads=False)

    def _check_shard(self, path: Path) -> Path:
        """Return `path`; raise `CacheError` if the file is damaged. Each file is checked once."""
        if path not in self._intact:
            with reading(path):
                if self._digests.get(path.name) not in (None, hash_file(path)):
                    raise CacheError(
                        f"{path} is damaged: its digest differs from the one recorded; delete it "
                        "and resume the collection"
                    )
            self._intact.add(path)
        return path

    def _check_columns(self, columns: Sequence[str] | None) -> list[str]:
        """Return `columns` as a list, or the default columns for None."""
        layout = self.layout
        next_columns = {f"{_NEXT}{field.column}" for field in layout.fields}
        available = {*layout.schema.names, *next_columns}
        if columns is None:
            observed = [f.column for f in layout.fields if f.kind in ("number", "array")]
            rewards = [f"reward_{name}" for name in layout.rewards]
            after = [f"{_NEXT}{name}" for name in observed]
            return ["action_number", *rewards, "terminated", *observed, *after]
        for name in columns:
            if name not in available:
                raise UnknownNameError(unknown_name("column", name, available))
        return list(columns)

    def _select(self, table: Any, names: Sequence[str]) -> dict[str, Array]:
        """Return the columns `names` of the transitions in a row group of complete episodes."""
        compute = arrow(".compute")
        is_step = compute.and_(table["action"].is_valid(), table["error"].is_null())
        rows = np.flatnonzero(is_step.to_numpy())
        fields = {item.column: item for item in self.layout.fields}
        columns: dict[str, Array] = {}
        for name in names:
            column = name if name in table.column_names else name.removeprefix(_NEXT)
            array = table[column].take(rows if column == name else rows + 1).combine_chunks()
            field = fields.get(column)
            values = array.to_numpy(zero_copy_only=False) if field is None else field.decode(array)
            columns[name] = values if isinstance(values, np.ndarray) else _object_array(values)
        return columns


def _object_array(values: Sequence[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _join_batches(parts: Sequence[Batch]) -> dict[str, Array]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _batch_length(batch: Batch) -> int:
    return len(next(iter(batch.values()), ()))


def _mix_rows(
    source: Iterator[Batch], buffer: int, generator: np.random.Generator
) -> Iterator[Batch]:
    """Yield the same rows in random order, half of a full buffer at a time."""
    batches: list[Batch] = []
    for batch in source:
        batches.append(batch)
        if sum(map(_batch_length, batches)) >= buffer:
            rows = _join_batches(batches)
            order = generator.permutation(_batch_length(rows))
            half = len(order) // 2
            yield {name: values[order[half:]] for name, values in rows.items()}
            batches = [{name: values[order[:half]] for name, values in rows.items()}]
    if batches:
        rows = _join_batches(batches)
        order = generator.permutation(_batch_length(rows))
        yield {name: values[order] for name, values in rows.items()}


def _cut_into(source: Iterator[Batch], size: int) -> Iterator[Batch]:
    """Yield the same rows in batches of `size`."""
    batches: list[Batch] = []
    for batch in source:
        batches.append(batch)
        if sum(map(_batch_length, batches)) < size:
            continue
        rows = _join_batches(batches)
        end = _batch_length(rows) // size * size
        for begin in range(0, end, size):
            yield {name: values[begin : begin + size] for name, values in rows.items()}
        batches = [{name: values[end:] for name, values in rows.items()}]
    if batches and _batch_length(batches[0]):
        yield _join_batches(batches)


def differences_in(
    episodes: Iterable[tuple[int, EpisodeRecord]], layout: Layout, options: CollectOptions
) -> Iterator[ReplayDifference]:
    """Yield the first difference of each episode.

    Nondeterministic values and failures of workers, such as timeouts, are not compared.
    """
    with make_environment(options) as env:
        specs = [env.observation.spec(field.name) for field in layout.fields]
        env.observation_space = [spec.id for spec in specs]
        exact = [spec.space if spec.deterministic else None for spec in specs]
        for run, episode in episodes:
            difference = next(_episode_differences(env, episode, layout, exact), None)
            if difference is not None:
                step, column, recorded, replayed = difference
                yield ReplayDifference(run, episode.benchmark, step, column, recorded, replayed)


def _episode_differences(
    env: CompilerEnv, episode: EpisodeRecord, layout: Layout, exact: list[_Space]
) -> Iterator[tuple[int, str, Any, Any]]:
    if episode.observation is None or (episode.steps and not episode.steps[0].actions):
        return  # no episode can start on this program
    try:
        observed, _ = env.reset(benchmark=episode.benchmark, action_space=episode.action_space)
        yield from _state_differences(0, episode.observation, observed, layout, exact)
        for number, (_, record) in enumerate(episode.transitions(), start=1):
            step = cast("NamedStep", record)
            observed, reward, *_, info = env.step(_find_action(env, step))
            kinds = step.error_type, info.get("error_type")
            if kinds != (None, None):
                if kinds[0] != kinds[1] and not any(map(_is_of_a_worker, kinds)):
                    yield number, "error", *kinds
                return
            if step.reward is not None and _is_fixed(env) and step.reward != reward:
                yield number, "reward", step.reward, reward
            yield from _state_differences(number, step.observation, observed, layout, exact)
    except CompilerGymError as error:
        yield len(env.actions), "error", None, f"{type(error).__name__}: {error}"


def _state_differences(
    number: int, recorded: Any, observed: Any, layout: Layout, exact: list[_Space]
) -> Iterator[tuple[int, str, Any, Any]]:
    for field, value, space in zip(layout.fields, recorded or (), exact, strict=False):
        if space is None:
            continue
        current = observed[field.name]
        if field.kind == "json":
            current = json.loads(json_text(space, current))
        if not (np.array_equal(value, current) if field.dtype else value == current):
            yield number, field.column, value, current


def _is_fixed(env: CompilerEnv) -> bool:
    return all(reward.deterministic for reward in env.episode.selection.rewards.rewards)


def _is_of_a_worker(kind: str | None) -> bool:
    return kind is not None and isinstance(error_from_name(kind, ""), ServiceError)


def _find_action(env: CompilerEnv, step: NamedStep) -> Any:
    """Return the action with the name of the recorded one, or else with its number or value."""
    names = list(action_names(env.action_space))
    if step.name in names:
        return names.index(step.name)
    action = step.actions[0]
    if isinstance(action, int):
        return action
    return value_from_json(env.action_space, json.loads(action))
