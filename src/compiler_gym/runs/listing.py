# SPDX-License-Identifier: MIT
"""Find run folders, sum them up and tell how they differ."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from compiler_gym.files import whole_lines
from compiler_gym.files.paths import cache_path

__all__ = [
    "RunSummary", "differences", "distinct_names", "find_runs", "runs_path", "summarise",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run at a glance."""

    path: Path
    kind: str
    started: str
    is_done: bool
    episodes: int
    reward: float | None
    """The mean of the rewards recorded."""
    seconds: float
    """The sum of the times recorded."""
    settings: dict[str, Any]
    """Configuration, seeds, versions, host and revision, as ``a.b`` to value."""
    curve: tuple[tuple[float, float], ...]
    """Steps and rewards along the way."""


def runs_path() -> Path:
    """Return where runs go that were given no folder."""
    return cache_path("runs")


def find_runs(roots: Sequence[Path]) -> Iterator[Path]:
    """Yield the run folders in and below `roots`, the oldest first."""
    found = {file.parent for root in roots for file in root.rglob("run.json")}
    yield from sorted(found, key=lambda path: (path / "run.json").stat().st_mtime)


def summarise(path: Path) -> RunSummary:
    """Return the run in `path` at a glance; a damaged line counts as none."""
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
    """Return the settings in which runs differ, with the value of each."""
    names = dict.fromkeys(name for run in runs for name in run.settings)
    values = {name: [run.settings.get(name) for run in runs] for name in names}
    return {
        name: found
        for name, found in values.items()
        if name not in ("started", "command", "seal") and any(value != found[0] for value in found)
    }


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return the end of each path, as short as tells it from the others."""
    whole = [path.absolute().parts for path in paths]

    def shortest(parts: tuple[str, ...]) -> str:
        for length in range(1, len(parts)):
            if sum(other[-length:] == parts[-length:] for other in whole) == 1:
                return "/".join(parts[-length:])
        return str(Path(*parts))

    return [shortest(parts) for parts in whole]


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        for key, item in table.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _document(path: Path) -> dict[str, Any]:
    """Return the object in a file, or nothing where it is damaged."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return {}
    return _object(found)


def _object(found: Any) -> dict[str, Any]:
    """Return what was read if it is an object of JSON, or nothing."""
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
