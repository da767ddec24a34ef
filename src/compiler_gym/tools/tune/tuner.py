# SPDX-License-Identifier: MIT
"""What a compiler must do to tune somebody's binaries: the contract.

A tuner knows one compiler and no project. It writes to the folder it is given and nowhere
else; it raises `ProjectError` for what a project does that it cannot honour.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Protocol

from compiler_gym.builds import CompilerCommand
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.allowance import Allowance
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.front import FrontBuild
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.journal import Tried
from compiler_gym.tools.tune.meaning import Meaning
from compiler_gym.tools.tune.measure import Measure
from compiler_gym.tools.tune.measuring import RunCommand
from compiler_gym.tools.tune.plan import BinaryPlan

__all__ = [
    "Found",
    "FunctionSize",
    "Tuner",
    "TuningSubject",
    "Watch",
    "WatchRivals",
    "require_honoured",
]

Watch = Callable[[str, Tried], None]
"""Is told the stage and the best so far: bytes by the measure, or seconds."""
WatchRivals = Callable[[Mapping[str, Path]], None]
"""Is told what others make of a binary, the fair rival last, as soon as it is there."""


@dataclass(frozen=True, slots=True)
class TuningSubject:
    """One binary to tune, and what may be used for it."""

    binary: Binary
    folder: Path
    """Where everything is written."""
    goal: Goal
    allowance: Allowance
    jobs: int
    seed: int
    _: KW_ONLY
    measure: Measure = Measure.LOADED
    """Which bytes count."""
    run: RunCommand | None = None
    """The user's own measurement, where there is one."""
    train: RunCommand | None = None
    """A run to learn from, where it is not the one to measure by."""
    profile: Path | None = None
    """A profile from production to learn from, instead of a run."""
    confirm: RunCommand | None = None
    """A run that nothing is chosen by, to compare the result with the fair rival at the end."""
    max_slowdown: float | None = None
    """How much slower than the fair rival a smaller binary may be, as a fraction."""
    recipe: BinaryPlan | None = None
    """Decisions to build with instead of a search for others."""
    max_growth: float | None = None
    """How much more code than the fair rival's the recommended build of a front may have."""
    is_tested: bool = False
    """True if a command of the user's tells a miscompiled program from a right one."""
    old_loaders: bool = False
    """True if the file has to run with loaders that are older than this machine's."""
    no_unwind_tables: bool = False
    """True if the tables may go that debuggers and crash reports unwind a stack by."""
    start: BinaryPlan | None = None
    """Where the search starts, if something is known: a recipe, or the plan of an older version."""
    watch: Watch = field(default=lambda stage, best: None)
    watch_rivals: WatchRivals = field(default=lambda rivals: None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", Goal(self.goal))


@dataclass(frozen=True, slots=True)
class FunctionSize:
    """One function as the fair rival and as the tuned build link it."""

    name: str
    source: str
    """The file that it is from; empty where that is not known."""
    before: int
    """Bytes in the fair rival; 0 where it is part of another function, or of none."""
    after: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a tuner decided."""

    plan: BinaryPlan
    path: Path
    """The stripped binary that the plan makes."""
    rivals: Mapping[str, Path]
    """What others make of it, stripped: the fair rival last."""
    first: int
    """The bytes that the search began with, by its own measure."""
    tried: int
    """Number of compilations that were measured."""
    speed: Mapping[str, float] = field(default_factory=dict[str, float])
    """Against the fair rival, where it was measured: ``speedup`` and the 95 % interval from
    ``low`` to ``high``, ``instructions``, how many times as many the rival executes; against the
    rival with a profile and nothing else ``profile_speedup``, ``profile_low``, ``profile_high``;
    of a run that nothing was chosen by ``confirm_speedup``, ``confirm_low``, ``confirm_high``."""
    notes: tuple[str, ...] = ()
    """What the user should be told, a sentence each."""
    objects: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """An object of each source, by the source's path, as some rival was linked of them: the
    linker's map beside that rival, or the objects' symbols, say which function is from which
    source."""
    gains: Mapping[str, int] = field(default_factory=dict[str, int])
    """By how many bytes the file grows without one decision, all others kept."""
    meanings: Mapping[str, Meaning] = field(default_factory=dict[str, Meaning])
    """What each decision does, and each pass of the plan as ``pass STEP``."""
    functions: tuple[FunctionSize, ...] = ()
    """Every function of either, where a map says."""
    rival_plan: BinaryPlan | None = None
    """What makes the fair rival, where a plan can."""
    front: tuple[FrontBuild, ...] = ()
    """Where speed and size both count: builds from smallest to fastest, `path` among them."""


class Tuner(Protocol):
    """One compiler's part; the entry-point group ``compiler_gym.tuners`` names its class."""

    @property
    def takes_program(self) -> bool:
        """True if it is made with the name of an installed program, such as ``cc-12``.

        The class has it, too.
        """
        ...

    @property
    def version(self) -> str:
        """The compiler and its version, as a plan names it."""
        ...

    @property
    def compilers(self) -> tuple[Sequence[str], Sequence[str]]:
        """The commands that compile C, and C++, in the recorded build."""
        ...

    def tune(self, subject: TuningSubject) -> Found:
        """Return the best decisions for one binary, never worse than the fair rival."""
        ...

    def build(self, binary: Binary, plan: BinaryPlan, folder: Path, *, jobs: int) -> Path:
        """Return the stripped binary that `plan` makes of `binary`."""
        ...

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise `PlanError` that names the first decision of `plan` that `tune` never makes.

        A plan may come from anybody, and `build` and `script` refuse as this does: what they pass
        to a compiler could run code. `require_among` compares decisions with a table of them.
        """
        ...

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the passes of `plan`, one by one, as the compiler writes them."""
        ...

    def with_steps(self, plan: BinaryPlan, steps: Sequence[str]) -> BinaryPlan:
        """Return `plan` with the passes `steps` in the place of its own: with none, no pass runs.

        Raises `PlanError` where the compiler has no passes to choose.
        """
        ...

    def actions(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the actions of an environment that do what `plan` says, as far as there are any.

        What is told to a linker is no action.
        """
        ...

    def meaning(self, decision: str) -> Meaning:
        """Return what a decision does, named as `BinaryPlan.decisions` does, or ``pass STEP``."""
        ...

    def plain_words(self, plan: BinaryPlan) -> Sequence[str]:
        """Return the compiler's command for `plan`, to which anybody's sources can be added.

        Raises `PlanError` where one command cannot say it.
        """
        ...

    def command_with(self, plan: BinaryPlan, command: CompilerCommand) -> Sequence[str]:
        """Return what to run in the place of `command`, so that what it makes is as `plan` says.

        A command that makes no code stays as it is, but for the compiler. Raises `PlanError` where
        one command after the other cannot say it.
        """
        ...

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        """Return lines of a shell script that make the same bytes with the compiler's own tools.

        ROOT is a tree in which the project was built, OUT the folder to write to.
        """
        ...


def require_honoured(binary: Binary, refused: Callable[[Unit], Sequence[str]]) -> None:
    """Raise `ProjectError` where a source is compiled with flags that `refused` names."""
    for unit in binary.units:
        if flags := refused(unit):
            raise ProjectError(
                f"{unit.source.name} is compiled with {' '.join(flags)}, which a plan cannot "
                "honour: build the project without"
            )
