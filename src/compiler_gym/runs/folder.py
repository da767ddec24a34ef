# SPDX-License-Identifier: MIT
"""One run's folder: configuration, episodes that ended, and a log of progress.

    run.json         configuration, seeds, versions, host, git revision; written once
    episodes.jsonl   one line for every episode that ended, on the disk when `record` returns
    states.jsonl     the states of those episodes, as every other tool reads them
    progress.jsonl   numbers along the way
    done             there when the run ended by itself
    lock             names the process that writes here, while one does

A run that was killed is opened again and told what it has done already. A line that
was cut by the kill is dropped; its episode is played again. An episode is there once,
with one state: what `episodes.jsonl` does not know of `states.jsonl` is dropped too.
"""

import errno
import json
import os
from collections.abc import Container, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
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
from compiler_gym.runs.facts import facts
from compiler_gym.runs.tensorboard import Scalars, open_scalars

__all__ = ["Change", "RunFolder"]


@dataclass(frozen=True, slots=True)
class Change:
    """A setting with which a run goes on differently."""

    before: Any
    now: Any
    was_unknown: bool
    """True if the folder did not say it, because an older version wrote it."""

    def __str__(self) -> str:
        return f"{self.now} (it {'does not say' if self.was_unknown else f'had {self.before}'})"


class RunFolder:
    """The folder of one run; use it in a ``with`` block, by one process at a time."""

    def __init__(
        self, path: Path, document: dict[str, Any], scalars: Scalars | None, lock: FolderLock
    ) -> None:
        self.path = path
        self.document = document
        """What ``run.json`` holds."""
        self.changes: dict[str, Change] = {}
        """The settings with which the run goes on differently."""
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
        """Return the folder at `path`, made anew or taken up where it was left.

        `kind` is ``search``, ``training`` or ``evaluation``. A setting of `may_change` may
        have another value than the run was begun with, and one of `may_lack` need not be in
        a folder that an older version wrote, and is added to it: `changes` names them. Raises
        `InvalidParameterError` where the folder holds a run of another configuration else,
        and `CacheError` where it cannot be written, is damaged, or is written by
        somebody else: until this is closed, nobody but this process may.
        """
        folder = Path(path)
        asked = {"kind": kind, "config": _json_document(dict(config)), "seeds": dict(seeds or {})}
        file = folder / "run.json"
        try:
            with make_folder(folder), ExitStack() as undone:
                lock = undone.enter_context(FolderLock.take(folder))
                document = _document(file, asked)
                changes = _changes(asked, document, folder, may_change, may_lack)
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

    def find_result(self, key: str) -> dict[str, Any] | None:
        """Return what was recorded of episode `key`, or None if it has to be played."""
        line = self._done.get(key)
        return None if line is None else line["result"]

    result_of = find_result
    """The earlier name of `find_result`."""

    def record(
        self, key: str, result: Mapping[str, Any], state: CompilerEnvState | None = None
    ) -> None:
        """Keep the result of episode `key`: it is on the disk when this returns.

        A key is there once: what was kept of it before is replaced. Raises `CacheError`
        where it cannot be kept, and then nothing of it is.
        """
        line: dict[str, Any] = {"key": key, "result": _json_document(dict(result))}
        known = self._done.get(key)
        if known is not None and known["result"] == line["result"]:
            return
        with self._writing():
            if state is not None:
                fields = {name: value for name, value in asdict(state).items() if value is not None}
                append_line(self._states, fields)
            line["states"] = self._states.stat().st_size if self._states.is_file() else 0
            if known is None:
                append_line(self._episodes, line)
            else:
                others = [other for name, other in self._done.items() if name != key]
                text = "".join(json.dumps(each) + "\n" for each in [*others, line])
                write_whole(self._episodes, text.encode(), sync=True)
        self._done.pop(key, None)
        self._done[key] = line

    def progress(self, step: int, **numbers: float) -> None:
        """Note numbers along the way, in the log and for TensorBoard if it was asked for."""
        with self._writing():
            append_line(self.path / "progress.jsonl", {"step": step, **numbers}, sync=False)
        if self._scalars is not None:
            self._scalars.add(step, numbers)

    def episodes(self) -> Iterator[dict[str, Any]]:
        """Yield what was recorded, in order, each key once; `CacheError` where it is damaged."""
        try:
            found = list(lines(self._episodes))
            last = {line["key"]: line for line in found if line["result"] is not None}
        except (KeyError, TypeError) as error:
            raise CacheError(
                f"{self._episodes} is damaged: expected lines with key and result ({error!r}): "
                "name another folder"
            ) from error
        except ValueError as error:
            raise CacheError(f"{error}: name another folder") from error
        yield from last.values()

    def numbers(self) -> Iterator[dict[str, Any]]:
        """Yield the numbers noted along the way, in order."""
        try:
            yield from lines(self.path / "progress.jsonl")
        except ValueError as error:
            raise CacheError(f"{error}: name another folder") from error

    def finish(self) -> None:
        """Note that nothing is left to do."""
        with self._writing():
            write_whole(self.path / "done", b"")

    def close(self) -> None:
        """Let others write here; what is kept can still be read."""
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
    def _last(self) -> dict[str, Any]:
        """The line that was recorded last."""
        return self._done[next(reversed(self._done))] if self._done else {}

    def _drop_states_without_an_episode(self) -> None:
        """Remove states of which a kill kept the episode from being recorded."""
        size = self._last.get("states", None if self._done else 0)
        if isinstance(size, int) and self._states.is_file() and self._states.stat().st_size > size:
            os.truncate(self._states, size)

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Raise `CacheError` for a folder that is not ours, and for what the disk refuses."""
        if not self._lock.is_held:
            raise CacheError(
                f"{self.path} is not written by process {os.getpid()}: expected the process "
                f"{self._lock.owner} that opened it and has not closed it"
            )
        try:
            yield
        except OSError as error:
            self._drop_states_without_an_episode()
            raise _cannot_write(Path(error.filename or self.path), error) from error


def _document(file: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Return what ``run.json`` holds; it is written where it is not there."""
    if not file.is_file():
        document = seal({**asked, **facts()})
        write_whole(file, (json.dumps(document, indent=2) + "\n").encode(), sync=True)
        return document
    try:
        found: Any = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise CacheError(f"{file} is damaged: {error}: name another folder") from error
    if not isinstance(found, dict) or not is_intact(cast("dict[str, Any]", found)):
        raise CacheError(f"{file} is damaged: its settings are not those of its run: name another")
    return cast("dict[str, Any]", found)


def _cannot_write(path: Path, error: OSError) -> CacheError:
    then = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "name another"
    return CacheError(f"cannot write {path}: {error.strerror}: {then}; what was kept before stays")


def _changes(
    asked: dict[str, Any],
    found: dict[str, Any],
    folder: Path,
    may_change: Container[str],
    may_lack: Container[str],
) -> dict[str, "Change"]:
    """Return the settings that differ and may; raise `InvalidParameterError` for another."""
    changes: dict[str, Change] = {}
    before, now = _settings(found), _settings(asked)
    for name in dict.fromkeys([*now, *before]):
        old, new = before.get(name), now.get(name)
        own = name.removeprefix("config.")
        is_lacking = name not in before and own in may_lack
        if is_lacking or (old != new and own in may_change):
            changes[own] = Change(old, new, is_lacking)
        elif old != new or (name in before) != (name in now):
            raise InvalidParameterError(
                f"{folder} holds a run whose {name} is {_describe_setting(before, name)}, not "
                f"{_describe_setting(now, name)}: choose another folder"
            )
    return changes


def _settings(document: dict[str, Any]) -> dict[str, Any]:
    """Return what decides whether a run is the same; each setting of its own by its name."""
    config: Any = document.get("config")
    plain = cast("dict[str, Any]", config) if isinstance(config, dict) else {"": config}
    settings = {f"config.{name}": value for name, value in plain.items()}
    return {"kind": document.get("kind"), **settings, "seeds": document.get("seeds")}


def _describe_setting(settings: dict[str, Any], name: str) -> str:
    return json.dumps(settings[name]) if name in settings else "nothing"


def _add_what_it_lacks(
    file: Path, document: dict[str, Any], changes: Mapping[str, "Change"]
) -> None:
    added = {name: change.now for name, change in changes.items() if change.was_unknown}
    if added:
        document["config"].update(added)
        document.update(seal(document))
        write_whole(file, (json.dumps(document, indent=2) + "\n").encode(), sync=True)


def _json_document(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))
