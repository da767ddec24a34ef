# SPDX-License-Identifier: MIT
"""What somebody wants of a tuning: every option, each declared once.

A tuning that goes on must be asked for what it began with. An option is compared then unless it
says here why it need not be, so that a new one is never forgotten.
"""

import json
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from typing import Any

from compiler_gym.tuning.goal import Goal

__all__ = ["Request"]

_FREE = "free"
"""Why an option may be another when a tuning goes on."""


def _free(why: str, default: Any) -> Any:
    return field(default=default, metadata={_FREE: why})


@dataclass(frozen=True, slots=True)
class Request:
    """The options of one tuning."""

    build: tuple[str, ...]
    """The command that builds the project."""
    project: Path
    """Its root, where the command is run."""
    output: Path = field(metadata={_FREE: "it is the folder that is gone on with"})
    """The folder for everything."""
    _: KW_ONLY
    goal: Goal = Goal.SIZE
    """What should become better."""
    seconds: float | None = _free("more time is why somebody goes on", 600.0)
    """How long to search."""
    compilations: int | None = _free("more compilations are why somebody goes on", None)
    """How many compilations to try."""
    seed: int = 0
    """With the same seed and compilations the search is the same."""
    jobs: int = _free("it decides how fast, and nothing else", 1)
    """Threads."""
    binaries: tuple[str, ...] = _free("each has a journal of its own", ())
    """Which linked files; none is the largest program."""
    run: str | None = _free("journals of times know their run", None)
    """A command that does the program's work."""
    check: str | None = _free("it judges the result, not what is tried", None)
    """A command that tests the project."""
    max_slowdown: float | None = _free("it judges the result, not what is tried", None)
    """How much slower the run may become, as a fraction."""
    resume: bool = _free("it says that a tuning goes on", False)
    """Whether to go on where a tuning was ended."""
    train: str | None = _free("journals of times know their run", None)
    """A command to learn from, where it is not `run`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", Goal(self.goal))

    def decides(self) -> dict[str, object]:
        """Return what must be the same when a tuning goes on, as JSON has it."""
        chosen = [one.name for one in fields(self) if _FREE not in one.metadata]
        text = json.dumps({name: getattr(self, name) for name in chosen}, default=str)
        return json.loads(text)
