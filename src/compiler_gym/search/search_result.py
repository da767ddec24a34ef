# SPDX-License-Identifier: MIT
"""The results of a search, as records and as files."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from compiler_gym.errors import CacheError
from compiler_gym.files import write_whole, writing
from compiler_gym.search.watching import Improvement
from compiler_gym.spaces import to_plain

__all__ = ["FailureReason", "ProgressLog", "SearchResult", "write_json", "write_results"]


@dataclass(frozen=True, slots=True)
class FailureReason:
    """A reason why the compiler could not finish sequences, with their number."""

    action: str
    """The name of the action that failed; empty if it was one of several applied together."""
    type: str
    """The name of the error class."""
    details: str
    """The first line of the error message."""
    count: int
    """Number of sequences that failed for this reason."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best sequence found for one program."""

    benchmark: str
    """The URI of the program."""
    actions: tuple[Any, ...]
    """The actions, as accepted by ``multistep``."""
    action_names: tuple[str, ...]
    commandline: str
    """The actions as the compiler's command line, if the action space can write one."""
    reward: float
    """The total reward of the episode, measured by a replay after a reset."""
    reward_space: str
    action_space: str
    algorithm: str
    seed: int
    seconds: float
    """Time spent on this program, over all threads."""
    steps: int
    """New actions tried."""
    sequences: int
    """Sequences tried, with the reward after each of their actions."""
    failures: int
    """Sequences that the compiler could not finish."""
    is_interrupted: bool
    """True if the search was stopped before its budget was used up."""
    improvements: tuple[Improvement, ...]
    """Every improvement, in order of time."""
    failure_reasons: tuple[FailureReason, ...] = ()
    """Reasons why sequences failed, the most frequent first."""
    recognised: int = 0
    """Number of sequences that reached an already-seen program."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values for a JSON file."""
        plain = asdict(self)
        plain["actions"] = [_json_action(action) for action in self.actions]
        plain["improvements"] = [
            {"seconds": round(i.seconds, 3), "steps": i.steps, "reward": i.reward,
             "length": len(i.actions)}
            for i in self.improvements
        ]  # fmt: skip
        return plain


def write_results(path: Path, results: Iterable[SearchResult], **facts: Any) -> Path:
    """Write `results` and `facts` to the file `path` atomically."""
    return write_json(path, {**facts, "results": [result.to_json() for result in results]})


def write_json(path: Path, document: Mapping[str, Any]) -> Path:
    """Write `document` to the file `path` atomically; raise `CacheError` if that fails."""
    with writing(path, CacheError):
        write_whole(path, (json.dumps(document, indent=2) + "\n").encode())
    return path


class ProgressLog:
    """A file of JSON lines, one per improvement, that can be read while the search runs."""

    def __init__(self, path: Path) -> None:
        with writing(path, CacheError):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = path.open("w", encoding="utf-8")

    def add(self, improvement: Improvement) -> None:
        """Append one line."""
        line = asdict(improvement) | {"seconds": round(improvement.seconds, 3)}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "ProgressLog":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def _json_action(action: Any) -> Any:
    plain: Any = to_plain(action)
    is_json = isinstance(plain, (str, bool, int, float, list, dict))
    return cast("Any", plain) if is_json else str(plain)
