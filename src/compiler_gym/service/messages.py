# SPDX-License-Identifier: MIT
"""The messages between an environment and its worker, and their encoding.

Each message is a msgpack array whose first item is the tag. A frame is the length of the message
as eight little-endian bytes, then the message. The messages are a public protocol for programs
in other languages, and ``docs/reference/session-protocol.md`` is generated from these classes.
A new field goes to the end and has a default: older readers ignore it, newer ones fill it in. Any
other change needs a new `PROTOCOL`.
"""

from typing import Any, cast

import msgspec
from msgspec import Struct

from compiler_gym._service import (
    STEPPED_FIELDS,  # pyright: ignore[reportUnknownVariableType]  # a tuple of texts
    STEPPED_TAG,
)
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec, ObservationSpec

PROTOCOL = 1
"""The version of the session protocol. Both sides send theirs in the handshake."""


class Start(Struct, array_like=True, tag=1):
    """Begin an episode and observe."""

    benchmark: BenchmarkSpec
    """The program."""
    action_space: str | None
    """The name of the action space of the actions; None is the first."""
    observations: list[str]
    """The names of the observations to reply with."""
    limits: dict[str, float]
    """Bounds that a session may enforce: ``growth`` and ``growth_floor`` of the program's size, and
    ``sandbox``, the strength of the sandbox that runs the program."""


class Step(Struct, array_like=True, tag=2):
    """Apply actions in order, then observe. No actions is a pure observation."""

    actions: list[Any]
    """Values of the action space."""
    observations: list[str]
    """The names of the observations to reply with."""
    stay_awake: bool = True
    """True if the worker may poll for the next request for a while before it sleeps."""


class Fork(Struct, array_like=True, tag=3):
    """Make a second worker with the same state."""

    observations: list[str] = []
    """Observations to compute in advance for both workers; failures are ignored."""
    stays: bool = False
    """True if the copy will only be forked: it then releases unused memory."""


class Parameter(Struct, array_like=True, tag=4):
    """Pass a parameter to the session."""

    key: str
    """Its name."""
    value: str
    """Its value."""


class Stop(Struct, array_like=True, tag=5):
    """End the episode but not the worker."""


class Resume(Struct, array_like=True, tag=6):
    """Begin an episode at the state where this worker's episode began; nothing has changed it."""

    observations: list[str]
    """The names of the observations to reply with."""


class Hello(Struct, array_like=True, tag=7):
    """The handshake: request a description of the compiler."""

    protocols: list[int]
    """The versions of the protocol that the client speaks."""
    capabilities: list[str] = []
    """Optional abilities of the client: ``"descriptors"`` means that it can receive a descriptor,
    which forks need."""


class Description(Struct, array_like=True, tag=17):
    """The description of a compiler."""

    protocol: int
    """The version of the protocol to use from now on, one of those offered."""
    compiler_version: str
    """The compiler's name and version, as it reports them."""
    action_spaces: list[ActionSpaceSpec]
    """Every action space; the first is the default."""
    observation_spaces: list[ObservationSpec]
    """Every observation space."""
    capabilities: list[str] = []
    """Optional abilities of the session: ``"fork"`` means that it answers `Fork` and `Resume`."""

    @property
    def forkable(self) -> bool:
        """True if the session copies itself; otherwise its actions are replayed."""
        return "fork" in self.capabilities


class Started(Struct, array_like=True, tag=18):
    """An episode has begun."""

    action_space: ActionSpaceSpec | None
    """The action space, only if the session starts with another than the one it declares."""
    observations: list[Any]
    """The requested values, in order."""
    warnings: list[tuple[str, str]] | None = None
    """Messages of the session: the class of a warning or the level of a log message (debug,
    info, warning, error), and the text."""
    seconds: float = 0.0
    """The processor time of the start, including children."""


class Stepped(Struct, array_like=True, tag=19):
    """Actions were applied: all, or the first `applied` ones if the episode ended."""

    end: bool
    """True if the last action ended the episode."""
    action_space: ActionSpaceSpec | None
    """The action space from now on, if it has changed."""
    no_effect: bool
    """True if the program did not change at all."""
    observations: list[Any]
    """The requested values, in order; empty if one failed."""
    applied: int
    """Number of actions that were applied."""
    failure: list[str] | None = None
    """Class name and message of an observation that could not be computed."""
    warnings: list[tuple[str, str]] | None = None
    """The same as in `Started`."""
    core: int = -1
    """The number of the core that the worker is on, or -1."""
    seconds: float = 0.0
    """The duration of the step in the worker, in seconds."""
    is_crowded: bool = False
    """True if another process wants the worker's core, so the client should sleep too."""


class Forked(Struct, array_like=True, tag=20):
    """A fork is ready. The descriptor of its socket comes with this message."""

    pid: int
    """Its process id."""


class ParameterReply(Struct, array_like=True, tag=21):
    """The session's answer to a parameter."""

    value: str | None
    """The answer; None if the session does not have this parameter."""


class Stopped(Struct, array_like=True, tag=22):
    """No episode is running."""


class Failed(Struct, array_like=True, tag=23):
    """The request failed with an error of class `kind`; the session is gone."""

    kind: str
    """The name of a class of `compiler_gym.errors`."""
    message: str
    """The text of the error."""
    applied: int = 0
    """Number of actions that had been applied before the one that failed."""
    recoverable: bool = False
    """True if the session is still as it was before the request."""


def check_layout(message: type[Struct], tag: int, fields: tuple[str, ...]) -> None:
    """Raise `ImportError` unless `message` has this tag and these fields in this order."""
    layout = message.__struct_config__.tag, message.__struct_fields__
    if layout != (tag, fields):
        raise ImportError(
            f"expected {message.__name__} with tag {tag} and fields {fields}, as in "
            f"native/include/compiler_gym/service/reply.h, got {layout[0]} and {layout[1]}"
        )


check_layout(
    Stepped, STEPPED_TAG, cast("tuple[str, ...]", STEPPED_FIELDS)
)  # the native module accesses these fields directly

Request = Start | Step | Fork | Parameter | Stop | Resume | Hello
Reply = Description | Started | Stepped | Forked | ParameterReply | Stopped | Failed

encode = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(Request).decode
decode_reply = msgspec.msgpack.Decoder(Reply).decode
