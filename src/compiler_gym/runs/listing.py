# SPDX-License-Identifier: MIT
"""Finds run folders, summarises and compares them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from compiler_gym.files import whole_lines
from compiler_gym.files.paths import cache_path
from compiler_gym.runs.folder import JsonObject


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The summary of one run."""

    path: Path
    kind: str
    started: str
    is_done: bool
    episodes: int
    reward: float | None
    """The mean of the recorded rewards."""
    seconds: float
    """The sum of the recorded times."""
    settings: JsonObject
    """Configuration, seeds, versions, host and revision; keys like ``a.b``."""
    curve: tuple[tuple[float, float], ...]
    """Pairs of step and reward during the run."""


def runs_path() -> Path:
    """Return the default folder of runs."""
    return cache_path("runs")


def find_runs(roots: Sequence[Path]) -> Iterator[Path]:
    """Yield the run folders in `roots` and their subfolders, the oldest first."""
    folders = {file.parent for root in roots for file in root.rglob("run.json")}
    yield from sorted(folders, key=lambda path: (path / "run.json").stat().st_mtime)


def summarise(path: Path) -> RunSummary:
    """Return the summary of the run in `path`; damaged lines are ignored."""
    document = _document(path / "run.json")
    lines = enumerate(whole_lines(path / "episodes.jsonl"))
    last = {str(line["key"]) if "key" in line else number: line for number, line in lines}
    results = [_object(line.get("result")) for line in last.values()]
    rewards = [r["reward"] for r in results if isinstance(r.get("reward"), (int, float))]
    times = [r["walltime"] for r in results if isinstance(r.get("walltime"), (int, float))]
    curve = [
        (float(line["step"]), float(line["reward"]))
        for line in whole_lines(path / "progress.jsonl")
        if "reward" in line and "step" in line
    ]
    return RunSummary(
        path=path,
        kind=str(document.get("kind", "")),
        started=str(document.get("started", "")),
        is_done=(path / "done").is_file(),
        episodes=len(results),
        reward=sum(rewards) / len(rewards) if rewards else None,
        seconds=sum(times),
        settings=dict(_flat(document)),
        curve=tuple(curve),
    )


def differences(runs: Sequence[RunSummary]) -> dict[str, list[Any]]:
    """Return the settings in which runs differ, with the value in each run."""
    names = dict.fromkeys(name for run in runs for name in run.settings)
    values = {name: [run.settings.get(name) for run in runs] for name in names}
    return {
        name: row
        for name, row in values.items()
        if name not in ("started", "command", "seal") and any(value != row[0] for value in row)
    }


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return the shortest end of each path that distinguishes it from the others."""
    parts_of_paths = [path.absolute().parts for path in paths]

    def shortest(parts: tuple[str, ...]) -> str:
        for length in range(1, len(parts)):
            if sum(candidate[-length:] == parts[-length:] for candidate in parts_of_paths) == 1:
                return "/".join(parts[-length:])
        return str(Path(*parts))

    return [shortest(parts) for parts in parts_of_paths]


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        table = cast("JsonObject", value)
        for key, item in table.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _document(path: Path) -> JsonObject:
    """Return the JSON object in a file, or an empty one if it is damaged."""
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return {}
    return _object(document)


def _object(document: Any) -> JsonObject:
    """Return `document` if it is a JSON object, or an empty one."""
    return cast("JsonObject", document) if isinstance(document, dict) else {}
