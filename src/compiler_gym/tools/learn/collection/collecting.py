# SPDX-License-Identifier: MIT
"""Fill the folder of a collection, or resume an interrupted one.

run.json          the options, versions and host; written once
shards/N.parquet  the episodes; a file appears when it is complete
episodes.jsonl    one line per shard, with its digest
lock              names the process that is writing here, if any
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.errors import InvalidParameterError
from compiler_gym.files import hash_file, is_intact, remove_left
from compiler_gym.options import CollectOptions, list_options
from compiler_gym.runs import RunFolder
from compiler_gym.tools.learn.collection.engines import engine_for, name_shard_file
from compiler_gym.tools.learn.collection.playing import policy_digest, settle_options
from compiler_gym.tools.learn.collection.shards import describe

SHARDS = "shards"
_MAY_CHANGE = (
    "policy_sha256",
    *(n for n, o in list_options(CollectOptions).items() if o.may_change),
)


@dataclass(frozen=True, slots=True)
class CollectionProgress:
    """The progress of a collection."""

    steps: int
    """Steps so far, including those in unfinished shards."""
    steps_in_all: int
    seconds: float
    steps_now: int
    """Steps since this process started."""


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """The size of a collection, and its failures."""

    shards: int
    """The number of shards written."""
    shards_in_all: int
    transitions: int
    """Steps that did not fail."""
    episodes: int
    bytes: int
    failures: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of failed steps by error class, most frequent first."""

    @property
    def is_complete(self) -> bool:
        """True if every shard is written."""
        return self.shards == self.shards_in_all

    def to_json(self) -> dict[str, Any]:
        """Return the fields and ``is_complete``."""
        return {**asdict(self), "is_complete": self.is_complete}


def collect(
    output: str | Path,
    options: CollectOptions | None = None,
    *,
    resume: bool = False,
    watch: Callable[[CollectionProgress], None] = lambda progress: None,
    **given: Any,
) -> CollectionSummary:
    """Collect transitions into the folder `output` and return a summary.

    Pass options as a record or as keywords with the names of its fields; keywords win:
    ``collect("store", env="llvm-v0", benchmarks=["cbench-v1"], steps=1000)``. The same options
    fill the folder with the same shards, with any number of processes and interruptions: a run of
    the policy depends on its number alone.

    Args:
        output: The folder.
        options: The options.
        resume: Resume the collection in the folder; if false, the folder must not hold one.
            Interruptions never lose a complete shard.
        watch: Called with the progress, in the calling thread.
        **given: Single options.

    Raises:
        InvalidParameterError: The folder holds a collection with other options, or any
            collection without `resume`; or the options do not fit the environment.
        UnknownNameError: A program, a space or the policy does not exist.
        PolicyError: The policy raised an error.
        RecordingError: A shard cannot be written. Complete shards stay.
        CacheError: The folder cannot be written, is damaged, or another process writes to it.
    """
    folder = Path(output)
    options = replace(options or CollectOptions(), **given)
    exists = (folder / "run.json").is_file()
    if exists and not resume:
        raise InvalidParameterError(
            f"{folder} already holds a collection; resume it (--resume) or choose another folder"
        )
    options, version = settle_options(options)
    config = {
        **msgspec.to_builtins(options),
        "compiler_version": version,
        "policy_sha256": policy_digest(options.policy),
    }
    seeds = {"collection": options.seed}
    with RunFolder.open(folder, "collection", config, seeds=seeds, may_change=_MAY_CHANGE) as run:
        _fill(run, options, watch)
        return summarise_collection(folder)


def _fill(
    run: RunFolder, options: CollectOptions, watch: Callable[[CollectionProgress], None]
) -> None:
    """Write the missing shards, and record the digest of each."""
    folder, started = run.path / SHARDS, time.monotonic()
    folder.mkdir(exist_ok=True)
    remove_left(folder, ".*.partial")
    steps = Counter[int]()

    def note(shard: int) -> None:
        path = name_shard_file(folder, shard)
        size = describe(path)
        entry = run.find_result(path.name)
        if entry is None or entry["bytes"] != size.bytes:
            run.record(path.name, {**asdict(size), "sha256": hash_file(path)})
        steps[shard] = size.transitions + sum(size.failures.values())

    def tick(shard: int, count: int) -> None:
        steps[shard] = count
        total, seconds = steps.total(), time.monotonic() - started
        watch(CollectionProgress(total, options.steps, seconds, total - before))

    shards = range(options.shards)
    missing = [shard for shard in shards if not name_shard_file(folder, shard).is_file()]
    for shard in sorted({*shards} - {*missing}):
        note(shard)
    before = steps.total()
    if missing:
        with closing(engine_for(options, len(missing))(options, missing, folder, tick)) as written:
            for shard in written:
                note(shard)
                tick(shard, steps[shard])


def read_options(folder: str | Path) -> CollectOptions:
    """Return the options of the collection in `folder`, or raise `InvalidParameterError`."""
    file = Path(folder) / "run.json"
    try:
        document = json.loads(file.read_bytes())
        if not is_intact(document):
            raise ValueError("run.json is damaged: its digest differs")
        if document["kind"] == "collection":
            return msgspec.convert(document["config"], CollectOptions)
        reason = f"it is a run of kind {document['kind']}"
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = f"{type(error).__name__}: {error}"
    raise InvalidParameterError(
        f"{folder} does not hold a collection ({reason}); pass the --output folder of "
        "`compiler-gym collect`"
    )


def list_shards(folder: str | Path) -> list[Path]:
    """Return the complete shards of the collection in `folder`, in the order of their runs."""
    return sorted((Path(folder) / SHARDS).glob("*.parquet"))


def summarise_collection(folder: str | Path) -> CollectionSummary:
    """Return a summary of the collection in `folder`."""
    shards = list(map(describe, list_shards(folder)))
    failures: Counter[str] = Counter()
    for shard in shards:
        failures.update(shard.failures)
    return CollectionSummary(
        shards=len(shards),
        shards_in_all=read_options(folder).shards,
        transitions=sum(shard.transitions for shard in shards),
        episodes=sum(shard.episodes for shard in shards),
        bytes=sum(shard.bytes for shard in shards),
        failures=dict(failures.most_common()),
    )
