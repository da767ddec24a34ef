# SPDX-License-Identifier: MIT
"""The contract: what a compiler must do to be an environment.

A session holds one program in one compiler. It runs in a worker process, sees
only plain Python values (numbers, text, bytes, lists, dicts) and never imports
Gymnasium: spaces are described by the records below, which also cross the
process border. The core turns them into Gymnasium spaces; sessions written in
other languages send the same records as msgpack.
"""

from abc import ABC, abstractmethod
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, field

__all__ = [
    "ActionSpaceSpec",
    "BenchmarkSpec",
    "BoxSpec",
    "CommandlineSpec",
    "CompilerSession",
    "DictSpec",
    "DiscreteSpec",
    "FlagSpec",
    "Layer",
    "MultiBinarySpec",
    "MultiDiscreteSpec",
    "NamedDiscreteSpec",
    "ObservationSpec",
    "OpaqueSpec",
    "PartSpec",
    "PermutationSpec",
    "ScalarSpec",
    "SequenceSpec",
    "SpaceSequenceSpec",
    "SpaceSpec",
    "TextSpec",
    "TimedPart",
    "TupleSpec",
]


class DiscreteSpec(Struct, frozen=True, tag="discrete"):
    """An integer in ``[start, start + n)``."""

    n: int
    start: int = 0


class NamedDiscreteSpec(Struct, frozen=True, tag="named_discrete"):
    """An integer in ``[0, len(items))``, each with a name."""

    items: tuple[str, ...]


class FlagSpec(Struct, frozen=True, array_like=True):
    """One item of a command line: its short name, its text and what it does."""

    name: str
    flag: str
    description: str = ""


class CommandlineSpec(Struct, frozen=True, tag="commandline"):
    """An integer in ``[0, len(items))``, each a piece of a command line.

    `style` names how several actions become one command: ``"words"`` joins the
    flags with blanks; a compiler's plug-in may register others.
    """

    items: tuple[FlagSpec, ...]
    style: str = "words"


class PartSpec(Struct, frozen=True):
    """What one number of several says, for people: its name, its values, what it is for."""

    name: str
    values: str = ""
    description: str = ""


class MultiDiscreteSpec(Struct, frozen=True, tag="multi_discrete"):
    """Several integers, the i-th in ``[0, nvec[i])``; `parts`, if given, says what each is."""

    nvec: tuple[int, ...]
    parts: tuple[PartSpec, ...] = ()


class MultiBinarySpec(Struct, frozen=True, tag="multi_binary"):
    """`n` values that are 0 or 1."""

    n: int


class BoxSpec(Struct, frozen=True, tag="box"):
    """An array of `shape` and `dtype` (a numpy name), each value in ``[low, high]``.

    A session may return the value as nested lists or as the raw bytes of a
    little-endian C-ordered array. A shape with a ``-1`` has that axis free.
    """

    low: float | int
    high: float | int
    shape: tuple[int, ...]
    dtype: str = "float32"


class ScalarSpec(Struct, frozen=True, tag="scalar"):
    """One number; `dtype` is ``"int"``, ``"float"`` or ``"bool"``; None is unbounded."""

    low: float | int | None = None
    high: float | int | None = None
    dtype: str = "float"


class TextSpec(Struct, frozen=True, tag="text"):
    """A string whose length lies in ``[min_length, max_length]``."""

    min_length: int = 0
    max_length: int | None = None


class SequenceSpec(Struct, frozen=True, tag="sequence"):
    """A sequence of `dtype`: ``"bytes"``, ``"str"``, ``"int"``, ``"float"`` or ``"bool"``.

    With `as_array` the user gets numbers as an array; a session sends a list all the same.
    """

    dtype: str = "bytes"
    min_length: int = 0
    max_length: int | None = None
    low: float | int | None = None
    high: float | int | None = None
    as_array: bool = False


class PermutationSpec(Struct, frozen=True, tag="permutation"):
    """An order of the numbers 0 to n - 1."""

    n: int


class OpaqueSpec(Struct, frozen=True, tag="opaque"):
    """A value in a named `format`: ``"json"`` is text that holds any JSON value."""

    format: str


class DictSpec(Struct, frozen=True, tag="dict"):
    """A mapping from names to values of other spaces.

    `style` names a space that a compiler's plug-in registers for it, as for a command line;
    empty is none.
    """

    items: dict[str, "SpaceSpec"]
    style: str = ""


class TupleSpec(Struct, frozen=True, tag="tuple"):
    """A fixed number of values of other spaces."""

    items: tuple["SpaceSpec", ...]


class SpaceSequenceSpec(Struct, frozen=True, tag="space_sequence"):
    """A list of values of one other space."""

    space: "SpaceSpec"
    min_length: int = 0
    max_length: int | None = None


SpaceSpec = (
    DiscreteSpec
    | NamedDiscreteSpec
    | CommandlineSpec
    | MultiDiscreteSpec
    | MultiBinarySpec
    | BoxSpec
    | ScalarSpec
    | TextSpec
    | SequenceSpec
    | PermutationSpec
    | OpaqueSpec
    | DictSpec
    | TupleSpec
    | SpaceSequenceSpec
)
"""What describes a space of actions or observations: one of these records."""


class ActionSpaceSpec(Struct, frozen=True):
    """A named set of actions."""

    name: str
    space: SpaceSpec
    description: str = ""
    varying: tuple[int, ...] = ()
    """The numbers of actions that make different programs of the same one in other runs: they
    are not cached, and the replay of an episode that holds one is not promised."""
    sets: tuple[int, ...] = ()
    """Where actions are settings: the number of the option that each of them sets. Actions of
    different options may change places. Empty where actions are steps, whose order counts."""


class ObservationSpec(Struct, frozen=True):
    """A named measurement of the program."""

    name: str
    space: SpaceSpec
    description: str = ""
    deterministic: bool = True
    """Whether an unchanged program always gives the same value."""
    platform_dependent: bool = False
    """Whether another machine may give another value."""
    default: Any = None
    """The plain value reported when the episode has failed."""


ObservationSpaceSpec = ObservationSpec
"""The name that sessions written for earlier versions import; the core's has it now."""


class BenchmarkSpec(Struct, frozen=True):
    """The program a session starts from."""

    uri: str
    contents: bytes
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    """The query of the URI, for example ``{"goal": "speed"}``."""
    run: bytes = b""
    """How to run it, as `compiler_gym.datasets.unpack_run` reads it; empty where that is not
    known or follows from the URI."""


class Layer(Enum):
    """Where time goes between a user's call and the compiler's work."""

    PYTHON = "python"
    """The user's process: spaces, rewards, records."""
    TRANSPORT = "transport"
    """A request on its way to the worker and back, and the worker waking up."""
    WORKER = "worker"
    """Python in the worker around the session."""
    RESET = "reset"
    """A worker or a session that is started: the program is read."""
    ACTIONS = "actions"
    """What an action does beside what stands below."""
    ENGINE = "engine"
    """What the compiler does around the parts below: it reads what to run, and manages it."""
    PASSES = "passes"
    """Parts of the compiler that change the program."""
    ANALYSES = "analyses"
    """What these parts ask about the program."""
    DETECTION = "change detection"
    """To say whether the program changed."""
    OBSERVATIONS = "observations"
    """What is measured of the program."""
    PROCESSES = "processes"
    """Processes that a session runs."""
    PROFILER = "profiler"
    """To say where the time went, as far as that is in the way of the rest."""


class TimedPart(Struct, frozen=True, array_like=True):
    """What a part of a call took, all parts of the same name and place together."""

    layer: Layer
    name: str
    calls: int
    nanoseconds: int
    parts: list["TimedPart"] = field(default_factory=list["TimedPart"])
    """What went into it. Their sum may be less: the rest is its own."""


class CompilerSession(ABC):
    """One program in one compiler, and the actions applied to it so far.

    Obligations:

    - The state is the program and nothing else: the same benchmark, action
      space and actions give the same observations in every process. Actions that
      break this are listed in ``ActionSpaceSpec.varying``.
    - Calls come one at a time, from one thread, in the order: construction,
      any number of `apply_action`, `get_observation` and
      `handle_session_parameter`, then `close`.
    - An exception from any method ends the session. Raise the classes of
      `compiler_gym.errors` where one fits: they reach the caller as they are.
    - Bad IR must never be returned: fail instead.
    - The process may be forked between two calls; both halves then go on
      independently. A session with resources that cannot be forked sets
      `forkable` to False, and its fork is made by replaying the actions.
    - Child processes are started through `compiler_gym.service.run_child`, so
      that they end with their worker.
    """

    compiler_version: ClassVar[str] = ""
    """What the compiler calls itself."""
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ()
    """Every action space; the first is the default."""
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = ()
    """Every observation space that the session computes."""
    forkable: ClassVar[bool] = True
    """Whether a fork of the process is a fork of the session."""
    initial_action_space: ActionSpaceSpec | None = None
    """What replaces the declared action space, where the program decides: set it in the
    constructor."""

    @classmethod
    def prepare(cls, options: dict[str, str]) -> "type[CompilerSession] | None":
        """Load what every session needs, once, before workers are forked.

        `options` is what the environment was made with, for example the path of
        a compiler. Raise `EnvironmentNotSupported` when it cannot run here.
        Return the class to serve where the options decide what it offers: one
        process may serve several compilers of a kind. None is this class.
        """
        return None

    @abstractmethod
    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        """Start from `benchmark`.

        `working_dir` belongs to this session alone. It does not exist until the
        session creates it, and is removed when the session ends.
        """

    @abstractmethod
    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Apply `action` and return ``(end_of_session, new_action_space, had_no_effect)``.

        `end_of_session` ends the episode: no action comes any more, but observations and
        parameters may, of the program as it is. `new_action_space` replaces the action
        space for the rest of the episode; None leaves it. `had_no_effect` may be
        True only if the program is exactly what it was.
        """

    def apply_further(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Apply `action` in a request in which another has had an effect already.

        Its own `had_no_effect` is not looked at. Override this where it costs to know.
        """
        return self.apply_action(action)

    @abstractmethod
    def get_observation(self, name: str) -> Any:
        """Return the plain value of the observation space `name`."""

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle a parameter and return the reply, or None if `key` is unknown."""
        return None

    def time_parts(self, is_on: bool) -> None:
        """Begin to note what the time of each call goes into, or end it.

        Called before the first action or between two calls. Off, which it is at first, must
        cost nothing.
        """

    def timed_parts(self) -> list[TimedPart]:
        """Return what the time since the last call of this went into, where it is noted."""
        return []

    def moved(self, working_dir: Path) -> None:
        """Use `working_dir` from now on, which holds a copy of the files so far.

        Called in the new half of a fork; the other half keeps the old directory.
        A session that keeps files or paths must override this.
        """

    def close(self) -> None:
        """Release what the session holds. Called once, also after an exception."""

    def leave(self) -> None:
        """Release what the end of this process does not; called in place of `close` before it.

        A session that holds much memory overrides this: to free it piece by piece takes longer
        than to end.
        """
        self.close()
