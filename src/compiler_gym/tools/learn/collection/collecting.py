# SPDX-License-Identifier: MIT
"""Fills the folder of a collection, and goes on where it was left.

run.json          the options, versions and host; written once
shards/N.parquet  the episodes; a file appears when it is complete
episodes.jsonl    the manifest: a line for each shard, made from the shard alone
lock              names the process that writes here, while one does
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from compiler_gym.errors import InvalidParameterError
from compiler_gym.files import is_intact, remove_left, whole_lines
from compiler_gym.options import CollectOptions, list_options
from compiler_gym.runs import RunFolder
from compiler_gym.tools.learn.collection._job import options_from, options_to
from compiler_gym.tools.learn.collection.engines import engine_for, name_shard_file
from compiler_gym.tools.learn.collection.playing import policy_digest, settle_options
from compiler_gym.tools.learn.collection.shards import Shard, describe

__all__ = [
    "CollectionProgress",
    "CollectionSummary",
    "collect",
    "read_manifest",
    "read_options",
    "summarise_collection",
]

SHARDS = "shards"
_MAY_CHANGE = (
    "policy_sha256",
    *(n for n, o in list_options(CollectOptions).items() if o.may_change),
)


@dataclass(frozen=True, slots=True)
class CollectionProgress:
    """How far a collection is."""

    steps: int
    """Steps that were made, those of unfinished shards included."""
    steps_in_all: int
    seconds: float
    steps_now: int
    """Those that were made since this process began."""


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """What a collection holds."""

    shards: int
    """The shards that are written."""
    shards_in_all: int
    transitions: int
    """Steps that did not fail."""
    episodes: int
    bytes: int
    failures: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many steps failed, by the class of the error, the most frequent first."""

    @property
    def is_complete(self) -> bool:
        """True if every shard is written."""
        return self.shards == self.shards_in_all

    def to_json(self) -> dict[str, Any]:
        """Return the fields, and whether it is complete."""
        return {**asdict(self), "is_complete": self.is_complete}


def collect(
    output: str | Path,
    options: CollectOptions | None = None,
    *,
    resume: bool = False,
    watch: Callable[[CollectionProgress], None] = lambda progress: None,
    **given: Any,
) -> CollectionSummary:
    """Collect transitions into the folder `output` and return what it holds.

    Options are a record, or keywords named as its fields, which override the record:
    ``collect("store", env="llvm-v0", benchmarks=["cbench-v1"], steps=1000)``. The same options
    fill the folder with the same shards, however many processes do it and however often it was
    interrupted: a run of the policy depends on its number alone.

    Args:
        output: The folder.
        options: The options.
        resume: Go on with the collection that is in the folder; without, the folder must hold
            none. A collection that was interrupted has lost no complete shard.
        watch: Is told about the progress, in the calling thread.
        **given: Single options.

    Raises:
        InvalidParameterError: The folder holds a collection with other options, or one at all
            without `resume`; or the options do not fit the environment.
        UnknownNameError: A program, a space or the policy does not exist.
        PolicyError: The policy raised an error.
        RecordingError: A shard cannot be written. Complete ones stay.
        CacheError: The folder cannot be written, is damaged, or another process writes to it.
    """
    folder = Path(output)
    options = replace(options or CollectOptions(), **given)
    has_one = (folder / "run.json").is_file()
    if has_one and not resume:
        raise InvalidParameterError(
            f"{folder} holds a collection: resume it (--resume), or name another folder"
        )
    options, version = settle_options(options)
    config = {
        **options_to(options),
        "compiler_version": version,
        "policy_sha256": policy_digest(options.policy),
    }
    seeds = {"collection": options.seed}
    with RunFolder.open(folder, "collection", config, seeds=seeds, may_change=_MAY_CHANGE) as run:
        _Filling(run, options, watch).fill()
        return summarise_collection(folder)


class _Filling:
    """Writes the shards that lack."""

    def __init__(
        self, run: RunFolder, options: CollectOptions, watch: Callable[[CollectionProgress], None]
    ) -> None:
        self._run = run
        self._options = options
        self._watch = watch
        self._folder = run.path / SHARDS
        self._steps: Counter[int] = Counter()
        self._started = time.monotonic()

    def fill(self) -> None:
        """Write them, and a line of the manifest for each."""
        options, folder = self._options, self._folder
        folder.mkdir(exist_ok=True)
        remove_left(folder, ".*.partial")
        lacking: list[int] = []
        for shard in range(options.shards):
            if name_shard_file(folder, shard).is_file():
                self._note(shard)
            else:
                lacking.append(shard)
        before = self._steps.total()

        def tick(shard: int, steps: int) -> None:
            self._steps[shard] = steps
            total, seconds = self._steps.total(), time.monotonic() - self._started
            self._watch(CollectionProgress(total, options.steps, seconds, total - before))

        if not lacking:
            return
        with closing(engine_for(options, len(lacking))(options, lacking, folder, tick)) as written:
            for shard in written:
                self._note(shard)
                tick(shard, self._steps[shard])

    def _note(self, shard: int) -> None:
        """Write the line of a shard, unless it is there."""
        name = name_shard_file(self._folder, shard)
        known = self._run.find_result(name.name)
        if known is None or known["bytes"] != name.stat().st_size:
            known = describe(name).to_json()
            self._run.record(name.name, known)
        self._steps[shard] = known["transitions"] + sum(known["failures"].values())


def read_options(folder: str | Path) -> CollectOptions:
    """Return the options of the collection in `folder`; raise `InvalidParameterError` for none."""
    file = Path(folder) / "run.json"
    try:
        document = json.loads(file.read_bytes())
        if not is_intact(document):
            raise ValueError("run.json is damaged: its digest differs")
        if document["kind"] == "collection":
            return options_from(document["config"])
        found = f"a run of kind {document['kind']}"
    except (OSError, ValueError, TypeError, KeyError) as error:
        found = f"{type(error).__name__}: {error}"
    raise InvalidParameterError(
        f"{folder} holds no collection: expected the --output of `compiler-gym collect`, "
        f"found {found}"
    )


def read_manifest(folder: str | Path) -> dict[Path, Shard]:
    """Return what each shard holds: as the manifest says, or as the shard does where it lacks."""
    lines = whole_lines(Path(folder) / "episodes.jsonl")
    told: dict[str, Any] = {line.get("key", ""): line.get("result") for line in lines}
    return {
        path: Shard.from_json(told[path.name], path) if told.get(path.name) else describe(path)
        for path in sorted((Path(folder) / SHARDS).glob("*.parquet"))
    }


def summarise_collection(folder: str | Path) -> CollectionSummary:
    """Return what the collection in `folder` holds."""
    found = read_manifest(folder).values()
    failures: Counter[str] = Counter()
    for shard in found:
        failures.update(shard.failures)
    return CollectionSummary(
        shards=len(found),
        shards_in_all=read_options(folder).shards,
        transitions=sum(shard.transitions for shard in found),
        episodes=sum(shard.episodes for shard in found),
        bytes=sum(shard.bytes for shard in found),
        failures=dict(failures.most_common()),
    )
