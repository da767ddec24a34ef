# SPDX-License-Identifier: MIT
"""The options of a tuning, each declared once.

A resumed run must have the same options as before. All options are compared, except those
declared with `may_change`, so a new option cannot be forgotten.
"""

import math
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from compiler_gym.errors import InvalidParameterError, ProjectError
from compiler_gym.options import (
    WHOLE_ABOVE_0,
    WHOLE_FROM_0,
    Spelling,
    list_options,
    option,
    seconds_in,
    to_plain,
)
from compiler_gym.tools.tune.goal import Goal, Measure

_SECONDS = 600.0


def _fraction(name: str, text: str) -> float:
    number = text.strip().removesuffix("%")
    try:
        fraction = float(number) / (1 if number == text.strip() else 100)
    except ValueError:
        fraction = math.nan
    if not -1 < fraction < math.inf:
        raise InvalidParameterError(f"{name} must be a percentage such as 3% (got {text})")
    return fraction


@dataclass(frozen=True, slots=True)
class Request:
    """The options of one tuning.

    Every field with a help text is an option of ``compiler-gym tune``. Options that only judge the
    result may change when a run is resumed; so may the runs, because the keys of journals contain
    them.

        >>> Request(("make",), Path("project"), goal="speed").seconds_allowed
        600.0
    """

    build: tuple[str, ...] = option(())
    """The command that builds the project."""
    project: Path = option(Path())
    """The root of the project, where the command runs."""
    output: Path = option(
        Path("tuned"), "Output folder; must be new unless --resume is given", may_change=True
    )
    _: KW_ONLY
    goal: Goal = option(Goal.SIZE, "size or speed", spelling=Spelling(type=str))
    measure: Measure = option(
        Measure.LOADED,
        "Size to minimise: text, loaded, file or compressed",
        spelling=Spelling(type=str),
    )
    """Bytes of code, of the loaded part of the stripped file, of the whole file, or of the file
    after ``zstd -19``."""
    seconds: float | None = option(
        None,
        "Time from start to report: 90 (seconds), 10m or 2h [default: 10m]",
        may_change=True,
        spelling=Spelling("time", type=str, read=seconds_in),
    )
    """The default is 600 if `compilations` is None."""
    compilations: int | None = option(
        None,
        "Number of compilations to try instead of a time limit; reproducible together with --seed",
        WHOLE_FROM_0,
        may_change=True,
        spelling=Spelling("budget_compilations"),
    )
    seed: int = option(
        0, "Random seed; the result is reproducible together with --budget-compilations"
    )
    binaries: tuple[str, ...] = option(
        (),
        "Linked file to tune; can be repeated [default: the largest]",
        may_change=True,
        spelling=Spelling("binary", type=list[str]),
    )
    """Each binary has a separate journal."""
    run: str | None = option(
        None,
        "Command that exercises the program on typical input; runs in the project folder",
        may_change=True,
    )
    train: str | None = option(
        None, "Command to tune for, with --goal speed [default: --run]", may_change=True
    )
    profile: str | None = option(
        None, "Profile to use: from an instrumented build, AutoFDO or perf", may_change=True
    )
    """A profile from production, instead of a training run."""
    confirm: str | None = option(
        None, "Held-out command, used only for the final comparison", may_change=True
    )
    check: str | None = option(
        None, "Command that tests the project, such as 'make check'", may_change=True
    )
    check_seconds: float | None = option(
        None,
        "Time limit for one run of --check: 90 (seconds), 10m or 2h [default: 10m]",
        may_change=True,
        spelling=Spelling("check_time", type=str, read=seconds_in),
    )
    max_slowdown: float | None = option(
        None,
        "Largest slowdown to accept, such as 3%",
        may_change=True,
        spelling=Spelling(type=str, read=_fraction),
    )
    """The limit as a fraction of the run's time."""
    debug: bool = option(
        False, "Keep debug information, in a file next to the binary", may_change=True
    )
    """The debug file is written after the search."""
    recipe: bool = option(
        False, "Build with the recipe for the goal, without searching", may_change=True
    )
    old_loaders: bool = option(
        False, "The result must run with dynamic loaders older than this system's"
    )
    """Otherwise the result may use packed relocations, which need glibc 2.36 or newer."""
    no_unwind_tables: bool = option(
        False, "Allow removing unwind tables; crash reports then lack the call stack"
    )
    """This is refused for C++ with exceptions, which need the tables."""
    start: Path | None = option(
        None,
        "Start from the decisions in an existing tuned.toml",
        may_change=True,
        spelling=Spelling("from_"),
    )
    resume: bool = option(False, "Resume an interrupted run", may_change=True)
    jobs: int | None = option(
        None, "Number of threads [default: one per processor]", WHOLE_ABOVE_0, may_change=True
    )
    """The number of threads; in Python, None means one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", Goal(self.goal))
        object.__setattr__(self, "measure", Measure(self.measure))

    @property
    def seconds_allowed(self) -> float | None:
        """The time limit in seconds: 0 for a recipe, and a default if no other limit is given."""
        if self.recipe:
            return 0.0
        return _SECONDS if self.seconds is None and self.compilations is None else self.seconds

    def decides(self) -> dict[str, object]:
        """Return the options that must not change when a run is resumed, as JSON values."""
        return {n: v for n, v in to_plain(self).items() if not list_options(self)[n].may_change}

    def require_measurable(self) -> None:
        """Raise `ProjectError` if an option does not fit the goal."""
        if self.run is None and not self.goal.counts_bytes:
            raise ProjectError(
                f"--goal {self.goal} needs a command to measure: add one such as --run "
                "'./bench input'"
            )
        for name in ("train", "profile"):
            if getattr(self, name) is not None and self.goal.counts_bytes:
                raise ProjectError(f"--{name} works only with --goal speed: omit --{name}")
        if self.max_slowdown is not None and self.goal is Goal.SPEED:
            raise ProjectError("--max-slowdown works only with --goal size: omit --max-slowdown")
        if self.profile is not None and not Path(self.profile).is_file():
            raise ProjectError(f"no profile at {self.profile}: give a file")
