# SPDX-License-Identifier: MIT
"""The messages between an environment and its worker, and how they become bytes.

Each is a msgpack array whose first item is the tag. A frame is the length of
the message as eight little-endian bytes, then the message. `PROTOCOL` changes
whenever a message does; both sides say theirs at the start and refuse others.
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

PROTOCOL = 4


class Start(Struct, array_like=True, tag=1):
    """Begin an episode and observe."""

    benchmark: BenchmarkSpec
    action_space: str | None
    observations: list[str]
    limits: dict[str, float]


class Step(Struct, array_like=True, tag=2):
    """Apply actions in order, then observe. No actions is a pure observation."""

    actions: list[Any]
    observations: list[str]
    stay_awake: bool = True
    """Whether the worker may look for the next request for a while before it sleeps."""


class Fork(Struct, array_like=True, tag=3):
    """Make a second worker with the same state."""

    observations: list[str] = []
    """What both are to know already; what cannot be computed is left out."""
    stays: bool = False
    """Whether the copy will only be forked from: it gives back the memory that it does not use."""


class Parameter(Struct, array_like=True, tag=4):
    """Hand a parameter to the session."""

    key: str
    value: str


class Stop(Struct, array_like=True, tag=5):
    """End the episode and keep the worker."""


class Resume(Struct, array_like=True, tag=6):
    """Begin an episode where this worker's began: nothing was done in it since."""

    observations: list[str]


class Description(Struct, array_like=True, tag=17):
    """What a worker says of itself when it is ready."""

    protocol: int
    compiler_version: str
    action_spaces: list[ActionSpaceSpec]
    observation_spaces: list[ObservationSpec]
    forkable: bool


class Started(Struct, array_like=True, tag=18):
    """An episode has begun."""

    action_space: ActionSpaceSpec | None
    """Only where the session starts with another space than the one it declares."""
    observations: list[Any]
    warnings: list[tuple[str, str]] | None = None
    """Class names and texts of warnings that the session gave."""
    seconds: float = 0.0
    """The processor time that it took, with that of children."""


class Stepped(Struct, array_like=True, tag=19):
    """Actions were applied; `applied` of them if one ended the episode."""

    end: bool
    action_space: ActionSpaceSpec | None
    no_effect: bool
    observations: list[Any]
    applied: int
    failure: list[str] | None = None
    """Class name and message of an observation that could not be computed."""
    warnings: list[tuple[str, str]] | None = None
    """Class names and texts of warnings that the session gave."""
    core: int = -1
    """The number of the core that the worker is on, or -1."""
    seconds: float = 0.0
    """How long it took, without the way there and back."""


class Forked(Struct, array_like=True, tag=20):
    """A fork is ready; its process is `pid`."""

    pid: int


class ParameterReply(Struct, array_like=True, tag=21):
    """What the session answered; None means that it does not know the key."""

    value: str | None


class Stopped(Struct, array_like=True, tag=22):
    """No episode is running."""


class Failed(Struct, array_like=True, tag=23):
    """The request failed with an error of class `kind`; the session is gone."""

    kind: str
    message: str
    applied: int = 0
    """How many of the actions had been applied before the one that failed."""
    recoverable: bool = False
    """Whether the session is still as it was before the request."""


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

Request = Start | Step | Fork | Parameter | Stop | Resume
Reply = Description | Started | Stepped | Forked | ParameterReply | Stopped | Failed

encode = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(Request).decode
decode_reply = msgspec.msgpack.Decoder(Reply).decode
