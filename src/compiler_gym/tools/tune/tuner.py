# SPDX-License-Identifier: MIT
"""The interface of a compiler's part of tuning, and the tuner for a compiler's name.

A tuner gets one binary of a recorded build, and returns the best decisions that it found for it. It
never changes the project. It writes only to the subject's folder and raises `ProjectError` for
features of a project that it does not support.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Protocol

from compiler_gym.errors import ProjectError, UnknownNameError
from compiler_gym.tools.tune.builds import Binary, Unit
from compiler_gym.tools.tune.goal import Goal, Measure
from compiler_gym.tools.tune.plan import BinaryPlan, Meaning
from compiler_gym.tools.tune.runs import RunCommand
from compiler_gym.tools.tune.size_search import Allowance, Tried

Watch = Callable[[str, Tried], None]
"""A callback with the stage and the best result so far, in bytes or seconds."""
WatchRivals = Callable[[Mapping[str, Path]], None]
"""A callback with the builds to compare with, the baseline last, as soon as they exist."""
_ONLY = "llvm"


@dataclass(frozen=True, slots=True)
class TuningSubject:
    """One binary to tune, with the options and limits for it."""

    binary: Binary
    folder: Path
    """The folder for all files of this tuning."""
    goal: Goal
    allowance: Allowance
    jobs: int
    seed: int
    _: KW_ONLY
    measure: Measure = Measure.LOADED
    """The size to minimise."""
    run: RunCommand | None = None
    """The command to measure, if there is one."""
    train: RunCommand | None = None
    """The training run, if it is not `run`."""
    profile: Path | None = None
    """A profile from production, instead of a training run."""
    confirm: RunCommand | None = None
    """A held-out run, used only to compare the result with the baseline at the end."""
    max_slowdown: float | None = None
    """The largest slowdown of a smaller binary over the baseline, as a fraction."""
    recipe: BinaryPlan | None = None
    """Decisions to build with, instead of searching."""
    is_tested: bool = False
    """True if a command of the user can detect a miscompilation."""
    old_loaders: bool = False
    """True if the file must work with older dynamic loaders than this machine's."""
    no_unwind_tables: bool = False
    """True if the unwind tables, which debuggers and crash reports need, may be removed."""
    start: BinaryPlan | None = None
    """The start of the search, if there is one: a recipe, or the plan of an older version."""
    watch: Watch = field(default=lambda stage, best: None)
    watch_rivals: WatchRivals = field(default=lambda rivals: None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "goal", Goal(self.goal))


@dataclass(frozen=True, slots=True)
class Build:
    """A build with its plan."""

    plan: BinaryPlan
    path: Path
    """The stripped binary."""


@dataclass(frozen=True, slots=True)
class FunctionSize:
    """The sizes of one function in the baseline and in the tuned build."""

    name: str
    source: str
    """Its source file; empty if unknown."""
    before: int
    """Bytes in the baseline; 0 if it was inlined or does not exist there."""
    after: int


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a tuner."""

    plan: BinaryPlan
    path: Path
    """The stripped binary that the plan produces."""
    rivals: Mapping[str, Path]
    """The stripped binaries to compare with, by label; the baseline is the last."""
    first: int
    """The bytes at the start of the search, by its measure."""
    tried: int
    """The number of compilations that were measured."""
    speed: Mapping[str, float] = field(default_factory=dict[str, float])
    """Measurements against the baseline: ``speedup`` with its 95 % interval from ``low`` to
    ``high``; in the held-out run ``confirm_speedup``, ``confirm_low`` and ``confirm_high``."""
    notes: tuple[str, ...] = ()
    """Remarks for the user, one sentence each."""
    objects: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """The object of each source, by the source's path, from which one of the rivals was linked.
    The linker's map next to that rival, or the objects' symbols, show the source of each
    function."""
    gains: Mapping[str, int] = field(default_factory=dict[str, int])
    """The bytes by which the file grows without one decision, with all others kept."""
    meanings: Mapping[str, Meaning] = field(default_factory=dict[str, Meaning])
    """The meaning of each decision, and of each pass of the plan as ``pass STEP``."""
    functions: tuple[FunctionSize, ...] = ()
    """Every function of the baseline and the tuned build, if their functions are known."""
    taken_back: tuple[str, ...] = ()
    """Decisions that were reverted because a test failed with them."""
    rival_plan: BinaryPlan | None = None
    """The plan that produces the baseline, if a plan can."""


class Tuner(Protocol):
    """A compiler's part of tuning."""

    @property
    def version(self) -> str:
        """The compiler and its version, as plans name them."""
        ...

    @property
    def compilers(self) -> tuple[Sequence[str], Sequence[str]]:
        """The commands that compile C and C++ in the recorded build."""
        ...

    def tune(self, subject: TuningSubject) -> Found:
        """Return the best decisions for one binary, never worse than the baseline."""
        ...

    def build(self, binary: Binary, plan: BinaryPlan, folder: Path, *, jobs: int) -> Path:
        """Return the stripped binary that is built from `binary` with `plan`."""
        ...

    def require_possible(self, plan: BinaryPlan) -> None:
        """Raise a `PlanError` that names the first decision of `plan` that `tune` never makes.

        Plans are untrusted, and compiler flags can run code: `build` and `script` also refuse such
        a plan. `require_among` compares decisions with a table of allowed ones.
        """
        ...

    def steps(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the passes of `plan` one by one, in the compiler's syntax."""
        ...

    def with_steps(self, plan: BinaryPlan, steps: Sequence[str]) -> BinaryPlan:
        """Return `plan` with the passes `steps` instead; without any, no pass runs.

        Raises `PlanError` if passes cannot be chosen for this compiler.
        """
        ...

    def actions(self, plan: BinaryPlan) -> tuple[str, ...]:
        """Return the environment actions that have the effect of `plan`, as far as they exist.

        Linker options are not actions.
        """
        ...

    def meaning(self, decision: str) -> Meaning:
        """Return the meaning of a decision, named as in `BinaryPlan.decisions` or ``pass STEP``."""
        ...

    def plain_words(self, plan: BinaryPlan) -> Sequence[str]:
        """Return the compiler command for `plan`, to which you can add any sources.

        Raises `PlanError` if one command cannot express the plan.
        """
        ...

    def script(self, binary: Binary, plan: BinaryPlan) -> str:
        """Return lines of a shell script that produce the same bytes with the compiler's own tools.

        ROOT is a tree in which the project was built, OUT the output folder, and HERE the folder of
        the script. If PLAIN is not empty, plug-ins of the compiler are left out.
        """
        ...

    def write_companions(self, plan: BinaryPlan, folder: Path) -> None:
        """Write the files to `folder` that the script for `plan` needs, apart from the tools."""
        ...


def require_honoured(binary: Binary, refused: Callable[[Unit], Sequence[str]]) -> None:
    """Raise `ProjectError` if a source is compiled with flags that `refused` returns."""
    for unit in binary.units:
        if flags := refused(unit):
            raise ProjectError(
                f"{unit.source.name} is compiled with {' '.join(flags)}, which a plan does "
                "not support: build the project without"
            )


def tuner_named(name: str | None) -> Tuner:
    """Return the tuner for the compiler `name`, which may include a version.

    None selects the default. Raises `UnknownNameError` for any other compiler.
    """
    from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner

    if name is None or name.partition(" ")[0] == _ONLY:
        return LlvmTuner()
    other = "; GCC is available as the environment gcc-v0" if "gcc" in Path(name).name else ""
    raise UnknownNameError(f"no tuner for the compiler {name!r}: use {_ONLY}{other}")
