# SPDX-License-Identifier: MIT
"""One run's folder: configuration, episodes that ended, and a log of progress.

    run.json         configuration, seeds, versions, host, git revision; written once
    episodes.jsonl   one line for every episode that ended, on the disk when `record` returns
    states.jsonl     the states of those episodes, as every other tool reads them
    progress.jsonl   numbers along the way
    done             there when the run ended by itself

A run that was killed is opened again and told what it has done already. A line that
was cut by the kill is dropped; its episode is played again.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import CacheError, InvalidParameterError
from compiler_gym.files import write_whole
from compiler_gym.json_lines import append_line, drop_cut_line, lines
from compiler_gym.runs.facts import facts
from compiler_gym.runs.tensorboard import Scalars, open_scalars

__all__ = ["RunFolder"]


class RunFolder:
    """The folder of one run; use it in a ``with`` block, by one process at a time."""

    def __init__(self, path: Path, document: dict[str, Any], scalars: Scalars | None) -> None:
        self.path = path
        self.document = document
        """What ``run.json`` holds."""
        self._scalars = scalars
        for name in ("episodes", "states", "progress"):
            drop_cut_line(path / f"{name}.jsonl")
        self._done = {line["key"]: line for line in self.episodes()}

    @classmethod
    def open(
        cls,
        path: str | Path,
        kind: str,
        config: Mapping[str, Any],
        *,
        seeds: Mapping[str, int] | None = None,
        tensorboard: bool = False,
    ) -> "RunFolder":
        """Return the folder at `path`, made anew or taken up where it was left.

        `kind` is ``search``, ``training`` or ``evaluation``. Raises
        `InvalidParameterError` where the folder holds a run of another configuration,
        and `CacheError` where it cannot be written.
        """
        folder = Path(path)
        asked = {"kind": kind, "config": _plain(dict(config)), "seeds": dict(seeds or {})}
        file = folder / "run.json"
        try:
            if file.is_file():
                document = json.loads(file.read_text(encoding="utf-8"))
                _require_same(asked, document, folder)
            else:
                document = {**asked, **facts()}
                write_whole(file, (json.dumps(document, indent=2) + "\n").encode())
            scalars = open_scalars(folder) if tensorboard else None
            return cls(folder, document, scalars)
        except OSError as error:
            raise CacheError(f"cannot write {folder}: {error.strerror}: name another") from error
        except json.JSONDecodeError as error:
            raise CacheError(f"{file} is damaged: {error}: name another folder") from error

    @property
    def is_done(self) -> bool:
        """Whether the run ended by itself."""
        return (self.path / "done").is_file()

    def result_of(self, key: str) -> dict[str, Any] | None:
        """Return what was recorded of episode `key`, or None if it has to be played."""
        line = self._done.get(key)
        return None if line is None else line["result"]

    def record(
        self, key: str, result: Mapping[str, Any], state: CompilerEnvState | None = None
    ) -> None:
        """Keep the result of episode `key`: it is on the disk when this returns."""
        if state is not None:
            known = {name: value for name, value in asdict(state).items() if value is not None}
            append_line(self.path / "states.jsonl", known)
        line = {"key": key, "result": _plain(dict(result))}
        append_line(self.path / "episodes.jsonl", line)
        self._done[key] = line

    def progress(self, step: int, **numbers: float) -> None:
        """Note numbers along the way, in the log and for TensorBoard if it was asked for."""
        append_line(self.path / "progress.jsonl", {"step": step, **numbers}, sync=False)
        if self._scalars is not None:
            self._scalars.add(step, numbers)

    def episodes(self) -> Iterator[dict[str, Any]]:
        """Yield what was recorded, in order."""
        yield from lines(self.path / "episodes.jsonl")

    def numbers(self) -> Iterator[dict[str, Any]]:
        """Yield the numbers noted along the way, in order."""
        yield from lines(self.path / "progress.jsonl")

    def finish(self) -> None:
        """Note that nothing is left to do."""
        write_whole(self.path / "done", b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *args: object) -> None:
        if self._scalars is not None:
            self._scalars.close()
        if kind is None:
            self.finish()


def _require_same(asked: dict[str, Any], found: dict[str, Any], folder: Path) -> None:
    for name, value in asked.items():
        if found.get(name) != value:
            raise InvalidParameterError(
                f"{folder} holds a run with another {name}: expected {value}, "
                f"found {found.get(name)}: name another folder"
            )


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))
