# SPDX-License-Identifier: MIT
"""The contract: the obligations of a compiler that becomes an environment.

A session holds one program in one compiler. It runs in a worker process, handles only plain
Python values (numbers, text, bytes, lists, dicts) and never imports Gymnasium: spaces are
described with the records below, which are also sent between processes. The core turns them into
Gymnasium spaces; sessions written in other languages send the same records as msgpack.
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
    """An item of a command line: its short name, its text and its effect."""

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
    """A human-readable description of one number of an action: its name, values and purpose."""

    name: str
    values: str = ""
    description: str = ""


class MultiDiscreteSpec(Struct, frozen=True, tag="multi_discrete"):
    """Several integers, the i-th in ``[0, nvec[i])``; `parts`, if given, describes each."""

    nvec: tuple[int, ...]
    parts: tuple[PartSpec, ...] = ()


class MultiBinarySpec(Struct, frozen=True, tag="multi_binary"):
    """`n` values that are 0 or 1."""

    n: int


class BoxSpec(Struct, frozen=True, tag="box"):
    """An array of `shape` and `dtype` (a numpy name), each value in ``[low, high]``.

    A session may return the value as nested lists or as the raw bytes of a
    little-endian C-ordered array. A ``-1`` in the shape is an axis of any length.
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

    With `as_array` the user gets an array of numbers; a session still sends a list.
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
    """A value in a named `format`; ``"json"`` is text with any JSON value."""

    format: str


class DictSpec(Struct, frozen=True, tag="dict"):
    """A mapping from names to values of other spaces.

    `style` names a Gymnasium space that a compiler's plug-in registers for it, like the style of
    a command line; empty for the plain space.
    """

    items: dict[str, "SpaceSpec"]
    style: str = ""


class TupleSpec(Struct, frozen=True, tag="tuple"):
    """A fixed number of values of other spaces."""

    items: tuple["SpaceSpec", ...]


class SpaceSequenceSpec(Struct, frozen=True, tag="space_sequence"):
    """A list of values of another space."""

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
"""Any description of a space of actions or observations."""


class ActionSpaceSpec(Struct, frozen=True):
    """A named set of actions."""

    name: str
    space: SpaceSpec
    description: str = ""
    varying: tuple[int, ...] = ()
    """The indices of nondeterministic actions, which may turn the same program into different
    ones: they are not cached, and an episode that holds one may not replay."""
    sets: tuple[int, ...] = ()
    """If actions are settings, the index of the option that each action sets; actions that set
    different options commute. Empty if the order of all actions matters."""


class ObservationSpec(Struct, frozen=True):
    """A named measurement of the program."""

    name: str
    space: SpaceSpec
    description: str = ""
    deterministic: bool = True
    """True if an unchanged program always gives the same value."""
    platform_dependent: bool = False
    """True if the value may differ on another machine."""
    default: Any = None
    """The plain value reported when the episode has failed."""


ObservationSpaceSpec = ObservationSpec
"""The earlier name of `ObservationSpec`, for sessions that still import it."""


class BenchmarkSpec(Struct, frozen=True):
    """The program from which a session starts."""

    uri: str
    contents: bytes
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    """The query of the URI, for example ``{"goal": "speed"}``."""
    run: bytes = b""
    """The way to run it, for `compiler_gym.datasets.unpack_run`; empty if that is unknown or
    follows from the URI."""


class Layer(Enum):
    """A part of the library or of the compiler to which a call's time is attributed."""

    PYTHON = "python"
    """The user's process: spaces, rewards, records."""
    TRANSPORT = "transport"
    """Messages to and from the worker, and waking the worker up."""
    WORKER = "worker"
    """Python code in the worker outside the session."""
    RESET = "reset"
    """Starting a worker or a session, which reads the program."""
    ACTIONS = "actions"
    """Applying an action, without the layers listed below."""
    ENGINE = "engine"
    """The compiler's own overhead, such as parsing a pipeline and scheduling passes."""
    PASSES = "passes"
    """Passes that transform the program."""
    ANALYSES = "analyses"
    """Analyses that those passes request."""
    DETECTION = "change detection"
    """Detecting whether the program changed."""
    OBSERVATIONS = "observations"
    """Computing observations."""
    PROCESSES = "processes"
    """Child processes that a session runs."""
    PROFILER = "profiler"
    """The profiler's own overhead."""


class TimedPart(Struct, frozen=True, array_like=True):
    """The time spent in one part of a call, summed over parts of the same name and parent."""

    layer: Layer
    name: str
    calls: int
    nanoseconds: int
    parts: list["TimedPart"] = field(default_factory=list["TimedPart"])
    """The nested parts; the remaining time is its own."""


class CompilerSession(ABC):
    """One program in one compiler, and the actions applied to it so far.

    Obligations:

    - The state is the program and nothing else: the same benchmark, action
      space and actions give the same observations in every process. Actions that
      break this are listed in ``ActionSpaceSpec.varying``.
    - Calls come one at a time, from one thread, in the order: construction, any number of
      `apply_action`, `get_observation` and `handle_session_parameter`, then `close`.
    - An exception from any method ends the session. Raise a class of `compiler_gym.errors` if
      one fits: it reaches the caller unchanged.
    - Never return invalid IR: fail instead.
    - The process may be forked between two calls; both copies then continue independently. A
      session with resources that cannot be forked sets `forkable` to False, and is then
      copied by replaying its actions.
    - Start child processes with `compiler_gym.service.run_child`, so that they end with their
      worker.
    """

    compiler_version: ClassVar[str] = ""
    """The compiler's name and version, as it reports them."""
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ()
    """Every action space; the first is the default."""
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = ()
    """Every observation space that the session computes."""
    forkable: ClassVar[bool] = True
    """True if a fork of the process is a fork of the session."""
    initial_action_space: ActionSpaceSpec | None = None
    """Replaces the declared action space if the program determines its actions; set in the
    constructor. None keeps the declared one."""

    @classmethod
    def prepare(cls, options: dict[str, str]) -> "type[CompilerSession] | None":
        """Load what every session needs, once, before workers are forked.

        options: The options of the environment, such as the path of a compiler.
            options: The options of the environment, for example the path of a compiler.

        Returns:
            The session class to serve, if it depends on the options: one process may serve
            several compilers of a kind. None for this class.

        Raises:
            EnvironmentNotSupported: The compiler cannot run on this machine.
        """
        return None

    @abstractmethod
    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        """Start from `benchmark`.

        Args:
            working_dir: A directory for this session alone. It does not exist until the
                session creates it, and is removed when the session ends.
            action_space: The action space of the actions, one of `action_spaces`.
            benchmark: The program, whose `contents` the session reads.

        Raises:
            BenchmarkInitError: The program cannot be read or compiled.
        """

    @abstractmethod
    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Apply `action` and return ``(end_of_session, new_action_space, had_no_effect)``.

        Args:
            action: A plain value of the action space, such as an index or a list of numbers.

        Returns:
            Three values. `end_of_session` ends the episode: no further action follows, but
            observations and parameters of the current program may. `new_action_space`
            replaces the action space for the rest of the episode; None keeps it.
            `had_no_effect` may be True only if the program is exactly what it was.

        Raises:
            CompilerError: The compiler failed; this ends the session.
        """

    def apply_further(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Apply `action` after an earlier action of the same request has had an effect.

        Like `apply_action`, but the caller ignores `had_no_effect`.
        Override this if change detection is expensive.
        """
        return self.apply_action(action)

    @abstractmethod
    def get_observation(self, name: str) -> Any:
        """Return the observation `name` of the current program.

        Returns:
            The plain value that its spec describes: a number, text, bytes, list or dict. An
            array may be nested lists or the bytes of a little-endian C-ordered array.

        Raises:
            ObservationError: It cannot be computed on this program.
        """

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle a parameter and return the reply, or None if `key` is unknown.

        Raises:
            InvalidParameterError: The value is invalid for the parameter.
        """
        return None

    def time_parts(self, is_on: bool) -> None:
        """Switch the timing of each call's parts on or off.

        Called before the first action or between two calls. It is off at first, and must cost
        nothing while it is off.
        """

    def timed_parts(self) -> list[TimedPart]:
        """Return the parts of the time since the previous call of this method; empty while off."""
        return []

    def moved(self, working_dir: Path) -> None:
        """Use `working_dir` from now on; it holds a copy of the session's files.

        Called in the copy after a fork; the original keeps the old directory.
        A session that keeps files or paths must override this.
        """

    def close(self) -> None:
        """Release every resource. Called once, also after an exception."""

    def leave(self) -> None:
        """Release resources that outlive the process; called instead of `close` before it ends.

        Override this in a session that holds much memory: freeing it object by object takes
        longer than ending the process.
        """
        self.close()
