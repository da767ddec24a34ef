# SPDX-License-Identifier: MIT
"""One run's folder: configuration, finished episodes, and a log of progress.

    run.json         configuration, seeds, versions, host, git revision; written once
    episodes.jsonl   one line for every finished episode, on the disk when `record` returns
    states.jsonl     the states of those episodes, in the format of every other tool
    progress.jsonl   numbers logged during the run
    done             exists if the run ended by itself
    lock             names the process that writes here; exists while it does

A killed run can be opened again and continues from its recorded episodes. A line that the kill
cut off is dropped, and its episode is played again. Each episode is recorded once, with one
state: states in `states.jsonl` that have no line in `episodes.jsonl` are dropped too.
"""

import errno
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Container, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self, cast

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import CacheError, InvalidParameterError
from compiler_gym.files import (
    FolderLock,
    append_line,
    drop_cut_line,
    is_intact,
    lines,
    make_folder,
    seal,
    write_whole,
)
from compiler_gym.version import __version__

JsonObject = dict[str, Any]
"""A JSON object."""


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that is different in a resumed run."""

    before: Any
    now: Any
    was_unknown: bool
    """True if the folder does not have the setting, because an older version wrote it."""

    def __str__(self) -> str:
        return f"{self.now} (before: {'unknown' if self.was_unknown else self.before})"


class RunFolder:
    """The folder of one run; use it in a ``with`` block, by one process at a time."""

    def __init__(
        self, path: Path, document: JsonObject, scalars: "Scalars | None", lock: FolderLock
    ) -> None:
        self.path = path
        self.document = document
        """The contents of ``run.json``."""
        self.changes: dict[str, Change] = {}
        """The settings that differ from those at the start of the run."""
        self._scalars = scalars
        self._lock = lock
        for name in ("episodes", "states", "progress"):
            drop_cut_line(path / f"{name}.jsonl")
        self._done = {line["key"]: line for line in self.episodes()}
        self._drop_states_without_an_episode()

    @classmethod
    def open(
        cls,
        path: str | Path,
        kind: str,
        config: Mapping[str, Any],
        *,
        seeds: Mapping[str, int] | None = None,
        tensorboard: bool = False,
        may_change: Container[str] = (),
        may_lack: Container[str] = (),
    ) -> "RunFolder":
        """Create the folder at `path`, or open it to resume its run.

        `kind` is ``search``, ``training`` or ``evaluation``. A setting in `may_change` may have
        another value than at the start of the run; one in `may_lack` is added if the folder was
        written by an older version without it: `changes` lists both. Raises `InvalidParameterError`
        if the folder has a run of another configuration, and `CacheError` if it cannot be
        written, is damaged, or is in use by another process. Only this process may write to it
        until it is closed.
        """
        folder = Path(path)
        settings = _json_document(dict(config))
        requested = {"kind": kind, "config": settings, "seeds": dict(seeds or {})}
        file = folder / "run.json"
        try:
            with make_folder(folder), ExitStack() as undone:
                lock = undone.enter_context(FolderLock.take(folder))
                document = _document(file, requested)
                changes = _changes(requested, document, folder, may_change, may_lack)
                _add_what_it_lacks(file, document, changes)
                scalars = open_scalars(folder) if tensorboard else None
                run = cls(folder, document, scalars, lock)
                run.changes = changes
                undone.pop_all()
                return run
        except CacheError:
            raise
        except OSError as error:
            raise _cannot_write(folder, error) from error

    @property
    def is_done(self) -> bool:
        """True if the run ended by itself."""
        return (self.path / "done").is_file()

    def find_result(self, key: str) -> JsonObject | None:
        """Return the recorded result of episode `key`, or None if it must be played."""
        line = self._done.get(key)
        return None if line is None else line["result"]

    def record(
        self, key: str, result: Mapping[str, Any], state: CompilerEnvState | None = None
    ) -> None:
        """Record the result of episode `key`: it is on the disk when this returns.

        An earlier result of the same key is replaced. Raises `CacheError` if it cannot be written;
        then nothing changes.
        """
        line: JsonObject = {"key": key, "result": _json_document(dict(result))}
        previous = self._done.get(key)
        if previous is not None and previous["result"] == line["result"]:
            return
        with self._writing():
            if state is not None:
                fields = {name: value for name, value in asdict(state).items() if value is not None}
                append_line(self._states, fields)
            line["states"] = self._states.stat().st_size if self._states.is_file() else 0
            if previous is None:
                append_line(self._episodes, line)
            else:
                entries = [entry for name, entry in self._done.items() if name != key]
                text = "".join(json.dumps(entry) + "\n" for entry in [*entries, line])
                write_whole(self._episodes, text.encode(), sync=True)
        self._done.pop(key, None)
        self._done[key] = line

    def progress(self, step: int, **numbers: float) -> None:
        """Log numbers during the run, also for TensorBoard if that is enabled."""
        with self._writing():
            append_line(self.path / "progress.jsonl", {"step": step, **numbers}, sync=False)
        if self._scalars is not None:
            self._scalars.add(step, numbers)

    def episodes(self) -> Iterator[JsonObject]:
        """Yield the recorded episodes in order, each key once; raise `CacheError` if damaged."""
        try:
            recorded = list(lines(self._episodes))
            last = {line["key"]: line for line in recorded if line["result"] is not None}
        except (KeyError, TypeError) as error:
            raise CacheError(
                f"{self._episodes} is damaged: its lines need key and result ({error!r}): choose "
                "another folder"
            ) from error
        except ValueError as error:
            raise CacheError(f"{error}: choose another folder") from error
        yield from last.values()

    def numbers(self) -> Iterator[JsonObject]:
        """Yield the logged numbers in order."""
        try:
            yield from lines(self.path / "progress.jsonl")
        except ValueError as error:
            raise CacheError(f"{error}: choose another folder") from error

    def finish(self) -> None:
        """Mark the run as complete."""
        with self._writing():
            write_whole(self.path / "done", b"")

    def close(self) -> None:
        """Release the lock; recorded data can still be read."""
        if self._scalars is not None:
            self._scalars.close()
            self._scalars = None
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *args: object) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self.close()

    @property
    def _episodes(self) -> Path:
        return self.path / "episodes.jsonl"

    @property
    def _states(self) -> Path:
        return self.path / "states.jsonl"

    @property
    def _last(self) -> JsonObject:
        """The last recorded line."""
        return self._done[next(reversed(self._done))] if self._done else {}

    def _drop_states_without_an_episode(self) -> None:
        """Remove states whose episode was not recorded because of a kill."""
        size = self._last.get("states", None if self._done else 0)
        if isinstance(size, int) and self._states.is_file() and self._states.stat().st_size > size:
            os.truncate(self._states, size)

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Raise `CacheError` if another process holds the lock, or if the disk refuses a write."""
        if not self._lock.is_held:
            raise CacheError(
                f"process {os.getpid()} may not write {self.path}: only process "
                f"{self._lock.owner}, which opened it, may, until it is closed"
            )
        try:
            yield
        except OSError as error:
            self._drop_states_without_an_episode()
            raise _cannot_write(Path(error.filename or self.path), error) from error


def _document(file: Path, requested: JsonObject) -> JsonObject:
    """Return the contents of ``run.json``; write the file if it does not exist."""
    if not file.is_file():
        document = seal({**requested, **facts()})
        write_whole(file, (json.dumps(document, indent=2) + "\n").encode(), sync=True)
        return document
    try:
        stored: Any = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise CacheError(f"{file} is damaged: {error}: choose another folder") from error
    if not isinstance(stored, dict) or not is_intact(cast("JsonObject", stored)):
        raise CacheError(f"{file} is damaged or was edited: choose another folder")
    return cast("JsonObject", stored)


def _cannot_write(path: Path, error: OSError) -> CacheError:
    remedy = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "choose another"
    return CacheError(f"cannot write {path}: {error.strerror}: {remedy}; recorded data is kept")


def _changes(
    requested: JsonObject,
    stored: JsonObject,
    folder: Path,
    may_change: Container[str],
    may_lack: Container[str],
) -> dict[str, "Change"]:
    """Return the settings that differ and may; raise `InvalidParameterError` for others."""
    changes: dict[str, Change] = {}
    before, now = _settings(stored), _settings(requested)
    for name in dict.fromkeys([*now, *before]):
        old, new = before.get(name), now.get(name)
        own = name.removeprefix("config.")
        is_lacking = name not in before and own in may_lack
        if is_lacking or (old != new and own in may_change):
            changes[own] = Change(old, new, is_lacking)
        elif old != new or (name in before) != (name in now):
            raise InvalidParameterError(
                f"{folder} has a run whose {name} is {_describe_setting(before, name)}, not "
                f"{_describe_setting(now, name)}: choose another folder"
            )
    return changes


def _settings(document: JsonObject) -> JsonObject:
    """Return the settings that make runs equal, with each setting of the configuration by name."""
    config: Any = document.get("config")
    plain = cast("JsonObject", config) if isinstance(config, dict) else {"": config}
    settings = {f"config.{name}": value for name, value in plain.items()}
    return {"kind": document.get("kind"), **settings, "seeds": document.get("seeds")}


def _describe_setting(settings: JsonObject, name: str) -> str:
    return json.dumps(settings[name]) if name in settings else "nothing"


def _add_what_it_lacks(file: Path, document: JsonObject, changes: Mapping[str, "Change"]) -> None:
    added = {name: change.now for name, change in changes.items() if change.was_unknown}
    if added:
        document["config"].update(added)
        document.update(seal(document))
        write_whole(file, (json.dumps(document, indent=2) + "\n").encode(), sync=True)


def _json_document(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


_PACKAGES = ("gymnasium", "numpy", "torch", "stable-baselines3")


def facts() -> JsonObject:
    """Return plain values that describe this machine, its software and the current time."""
    return {
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "command": sys.argv,
        "versions": {"compiler_gym": __version__, "python": platform.python_version()}
        | dict(filter(None, map(_find_version, _PACKAGES))),
        "host": {
            "name": platform.node(),
            "system": platform.platform(),
            "processor": _processor(),
            "processors": len(os.sched_getaffinity(0)),
        },
        "git": _revision(),
    }


def _find_version(package: str) -> tuple[str, str] | None:
    try:
        return package, version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


def _revision() -> JsonObject | None:
    """Return the revision of the working directory and whether it has changes; None without git."""
    revision = _git("rev-parse", "HEAD")
    if revision is None:
        return None
    return {"revision": revision, "changed": bool(_git("status", "--porcelain", "-uno"))}


def _git(*arguments: str) -> str | None:
    try:
        result = subprocess.run(
            ["git", *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


class Scalars:
    """An event file."""

    def __init__(self, writer: Any, event: Any, summary: Any) -> None:
        self._writer = writer
        self._event = event
        self._summary = summary

    def add(self, step: int, numbers: Mapping[str, float]) -> None:
        """Write one number for each name."""
        values = [
            self._summary.Value(tag=name, simple_value=float(value))
            for name, value in numbers.items()
        ]
        summary = self._summary(value=values)
        self._writer.add_event(self._event(wall_time=time.time(), step=step, summary=summary))

    def close(self) -> None:
        """Write everything to the disk and close the file."""
        self._writer.close()


def open_scalars(folder: Path) -> Scalars:
    """Return an event file in `folder`; raise `InvalidParameterError` without TensorBoard."""
    try:
        file_writer = importlib.import_module("tensorboard.summary.writer.event_file_writer")
        event = importlib.import_module("tensorboard.compat.proto.event_pb2")
        summary = importlib.import_module("tensorboard.compat.proto.summary_pb2")
    except ImportError as error:
        raise InvalidParameterError(
            "TensorBoard is not installed: `pip install tensorboard`, or omit this option"
        ) from error
    writer = file_writer.EventFileWriter(str(folder))
    return Scalars(writer, event.Event, summary.Summary)
