# SPDX-License-Identifier: MIT
"""The messages between an environment and its worker, and how they become bytes.

Each is a msgpack array whose first item is the tag. A frame is the length of
the message as eight little-endian bytes, then the message. They are a public protocol:
programs in other languages speak it, and ``docs/reference/session-protocol.md`` is made from
these classes. A new field goes to the end and has a default, which readers of either side
ignore or fill in; whatever else changes needs another `PROTOCOL`.
"""

from typing import Any, cast

import msgspec
from msgspec import Struct

from compiler_gym._service import (
    STEPPED_FIELDS,  # pyright: ignore[reportUnknownVariableType]  # a tuple of texts
    STEPPED_TAG,
)
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec, ObservationSpec

__all__ = [
    "PROTOCOL",
    "Description",
    "Failed",
    "Fork",
    "Forked",
    "Hello",
    "Parameter",
    "ParameterReply",
    "Reply",
    "Request",
    "Resume",
    "Start",
    "Started",
    "Step",
    "Stepped",
    "Stop",
    "Stopped",
    "check_layout",
    "decode_reply",
    "decode_request",
    "encode",
]

PROTOCOL = 1
"""The version of the session protocol. Both sides say theirs in the handshake."""


class Start(Struct, array_like=True, tag=1):
    """Begin an episode and observe."""

    benchmark: BenchmarkSpec
    """The program."""
    action_space: str | None
    """The name of the action space that actions are given in; None is the first."""
    observations: list[str]
    """The names of the observations to reply with."""
    limits: dict[str, float]
    """Bounds that a session may keep: ``growth`` and ``growth_floor`` of the program's size, and
    ``sandbox``, the strength of the sandbox for running it."""


class Step(Struct, array_like=True, tag=2):
    """Apply actions in order, then observe. No actions is a pure observation."""

    actions: list[Any]
    """Values of the action space."""
    observations: list[str]
    """The names of the observations to reply with."""
    stay_awake: bool = True
    """True if the worker may look for the next request for a while before it sleeps."""


class Fork(Struct, array_like=True, tag=3):
    """Make a second worker with the same state."""

    observations: list[str] = []
    """What both are to know already; what cannot be computed is left out."""
    stays: bool = False
    """True if the copy will only be forked from: it gives back the memory that it does not use."""


class Parameter(Struct, array_like=True, tag=4):
    """Hand a parameter to the session."""

    key: str
    """Its name."""
    value: str
    """Its value."""


class Stop(Struct, array_like=True, tag=5):
    """End the episode and keep the worker."""


class Resume(Struct, array_like=True, tag=6):
    """Begin an episode where this worker's began: nothing was done in it since."""

    observations: list[str]
    """The names of the observations to reply with."""


class Hello(Struct, array_like=True, tag=7):
    """The handshake: ask what the compiler offers."""

    protocols: list[int]
    """The versions of the protocol that the client speaks."""
    capabilities: list[str] = []
    """What the client can do beside the requests: ``"descriptors"`` is to receive a descriptor,
    without which no fork can be handed over."""


class Description(Struct, array_like=True, tag=17):
    """What a compiler offers."""

    protocol: int
    """The version of the protocol that is spoken from now on, one of those offered."""
    compiler_version: str
    """The compiler's name and version, as it reports them."""
    action_spaces: list[ActionSpaceSpec]
    """Every action space; the first is the default."""
    observation_spaces: list[ObservationSpec]
    """Every observation space."""
    capabilities: list[str] = []
    """What the session can do beside what it must: ``"fork"`` is to answer `Fork` and `Resume`."""

    @property
    def forkable(self) -> bool:
        """True if the session copies itself; otherwise its actions are replayed."""
        return "fork" in self.capabilities


class Started(Struct, array_like=True, tag=18):
    """An episode has begun."""

    action_space: ActionSpaceSpec | None
    """Only where the session starts with another space than the one it declares."""
    observations: list[Any]
    """The values that were asked for, in order."""
    warnings: list[tuple[str, str]] | None = None
    """What the session has to say: the class of a warning or the level of a log message (debug,
    info, warning, error), and the text."""
    seconds: float = 0.0
    """The processor time that it took, with that of children."""


class Stepped(Struct, array_like=True, tag=19):
    """Actions were applied; `applied` of them if one ended the episode."""

    end: bool
    """True if the last action ended the episode."""
    action_space: ActionSpaceSpec | None
    """The action space from now on, where it is another."""
    no_effect: bool
    """True if the program is exactly what it was before."""
    observations: list[Any]
    """The values that were asked for, in order; empty where one failed."""
    applied: int
    """Number of actions that were applied."""
    failure: list[str] | None = None
    """Class name and message of an observation that could not be computed."""
    warnings: list[tuple[str, str]] | None = None
    """As those of `Started`."""
    core: int = -1
    """The number of the core that the worker is on, or -1."""
    seconds: float = 0.0
    """How long it took, without the way there and back."""
    is_crowded: bool = False
    """True if another process wants the worker's core, so that the client had better sleep too."""


class Forked(Struct, array_like=True, tag=20):
    """A fork is ready. The descriptor of its own socket comes with this message."""

    pid: int
    """The number of its process."""


class ParameterReply(Struct, array_like=True, tag=21):
    """What the session answered; None means that it does not know the key."""

    value: str | None
    """The answer."""


class Stopped(Struct, array_like=True, tag=22):
    """No episode is running."""


class Failed(Struct, array_like=True, tag=23):
    """The request failed with an error of class `kind`; the session is gone."""

    kind: str
    """The name of a class of `compiler_gym.errors`."""
    message: str
    """What was expected and what was found."""
    applied: int = 0
    """Number of actions that had been applied before the one that failed."""
    recoverable: bool = False
    """True if the session is still as it was before the request."""


def check_layout(message: type[Struct], tag: int, fields: tuple[str, ...]) -> None:
    """Raise `ImportError` unless `message` has this tag and these fields in this order."""
    found = message.__struct_config__.tag, message.__struct_fields__
    if found != (tag, fields):
        raise ImportError(
            f"expected {message.__name__} with tag {tag} and fields {fields}, as in "
            f"native/include/compiler_gym/service/reply.h, found {found[0]} and {found[1]}"
        )


check_layout(
    Stepped, STEPPED_TAG, cast("tuple[str, ...]", STEPPED_FIELDS)
)  # the module reads them where they lie

Request = Start | Step | Fork | Parameter | Stop | Resume | Hello
Reply = Description | Started | Stepped | Forked | ParameterReply | Stopped | Failed

encode = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(Request).decode
decode_reply = msgspec.msgpack.Decoder(Reply).decode
