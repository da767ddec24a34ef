# SPDX-License-Identifier: MIT
"""A state-transition dataset in one Parquet file, one row for each action.

The columns, in order: ``benchmark`` (address of the program), ``state`` (hash before the action),
``action`` (its name), ``action_number``, ``next_state``, ``no_effect``, ``rewards`` (a list in the
order of the names under ``rewards`` in the file's metadata) and ``features`` (the observation
before the action as a list of numbers, or an empty list). Each pair of state and action appears
once. Needs the extra ``parquet``. For data larger than memory,
`compiler_gym.tools.learn.collection` writes and reads many files.
"""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compiler_gym.cli.kit.library import library
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.files import writing
from compiler_gym.spaces import action_names
from compiler_gym.wrappers import EpisodeList, EpisodeRecord

_COLUMNS = (
    *(("benchmark", "string"), ("state", "string"), ("action", "string")),
    *(("action_number", "int32"), ("next_state", "string"), ("no_effect", "bool_")),
)


@dataclass(frozen=True, slots=True)
class StateTransition:
    """One row of the dataset."""

    benchmark: str
    state: str
    action: str
    action_number: int
    next_state: str
    no_effect: bool
    rewards: tuple[float, ...]
    features: tuple[float, ...] = ()


def random_transitions(
    env: CompilerEnv,
    programs: Iterable[Any],
    *,
    episodes: int = 10,
    length: int = 20,
    rewards: Sequence[str] = (),
    features: str | None = None,
    seed: int = 0,
) -> Iterator[StateTransition]:
    """Yield the transitions of random actions on `programs`; an episode ends before a failure.

    `rewards` and `features` name spaces of `env`, which must offer a hash of its program and named
    actions.
    """
    key, names = env.state_observation, action_names(env.action_space)
    if key is None or not names:
        raise InvalidParameterError(f"{env} must offer a hash of its program and named actions")
    before = env.episode.selection.observations.names, env.episode.selection.rewards.names
    env.observation_space = [key, *([features] if features else [])]
    env.reward_space = list(rewards) or None
    recorded, generator = EpisodeList(env), random.Random(seed)
    try:
        for program in programs:
            for _ in range(episodes):
                recorded.reset(benchmark=program)
                while recorded.in_episode and len(recorded.episodes[-1].steps) < length:
                    recorded.step(generator.randrange(len(names)))
                yield from _make_transitions(recorded.episodes.pop(), key, names)
    finally:
        env.observation_space, env.reward_space = before


def write_transitions(
    path: str | Path, transitions: Iterable[StateTransition], *, rewards: Sequence[str] = ()
) -> int:
    """Write a file and return its number of rows; `rewards` names the items of that column."""
    pa: Any = library("pyarrow", "parquet")
    parquet: Any = library("pyarrow.parquet", "parquet")
    columns = [(name, getattr(pa, kind)()) for name, kind in _COLUMNS]
    columns += [(name, pa.list_(pa.float64())) for name in ("rewards", "features")]
    schema = pa.schema(columns, metadata={"rewards": json.dumps(list(rewards))})
    distinct = {(item.benchmark, item.state, item.action): item for item in transitions}
    rows = [asdict(item) for item in distinct.values()]
    with writing(path, RecordingError):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # Pass an open file: with a path, pyarrow deletes an existing file when it fails.
        with Path(path).open("wb") as file:
            parquet.write_table(pa.Table.from_pylist(rows, schema), file)
    return len(rows)


def read_transitions(path: str | Path) -> Iterator[StateTransition]:
    """Yield the rows of a file as transitions."""
    parquet: Any = library("pyarrow.parquet", "parquet")
    for batch in parquet.ParquetFile(path).iter_batches():
        for row in batch.to_pylist():
            row["rewards"], row["features"] = tuple(row["rewards"]), tuple(row["features"])
            yield StateTransition(**row)


def _make_transitions(
    episode: EpisodeRecord, key: str, names: Sequence[str]
) -> Iterator[StateTransition]:
    for observed, step in episode.transitions():
        if step.error_type is not None:
            return
        number, reward = int(step.actions[0]), step.reward
        earned = reward if isinstance(reward, list) else () if reward is None else (reward,)
        yield StateTransition(
            benchmark=episode.benchmark,
            state=str(observed[key]),
            action=names[number],
            action_number=number,
            next_state=str(step.observation[key]),
            no_effect=step.no_effect,
            rewards=tuple(map(float, earned)),
            features=tuple(
                number
                for name, value in observed.items()
                if name != key
                for number in np.asarray(value, dtype=float).reshape(-1)
            ),
        )
