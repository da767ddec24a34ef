# SPDX-License-Identifier: MIT
"""The page of the session protocol, its schema and a recorded episode, made from the messages."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, ForwardRef, Union, get_args, get_origin

import msgspec

from compiler_gym import errors
from compiler_gym.service import Limits, SessionSource
from compiler_gym.service.foreign import Carrier, sdk_path
from compiler_gym.service.messages import PROTOCOL, Hello, Reply, Request, Start, Step, Stop
from compiler_gym.service.supervisor import zygote_for
from compiler_gym.session import BenchmarkSpec, SpaceSpec

__all__ = ["protocol_schema", "recorded_episode", "sdk_files", "session_protocol_page"]

_HEAD = f"""# The session protocol, version {PROTOCOL}

What a program says to be a compiler of `compiler_gym`, in any language.
An afternoon is enough to implement it: a reader and a writer of msgpack, and seven requests.
[The guide](../../packages/foreign/docs/another-language.md) begins with programs that work.
This page is made from the classes that the library itself uses.
`compiler-gym sdk` prints a folder with the same as a JSON schema (`session-v1.schema.json`), with the requests of the conformance check and an episode with its bytes (`transcripts/`), and with a header for C++.

## Where the client is

The program is started by the client, and finds it by the variable `COMPILER_GYM_SESSION`.

"""
_FRAMES = """
`COMPILER_GYM_SCRATCH` names a folder for files.
What is named after a process there, as `1234-anything`, is removed when process 1234 ends.
What a program prints otherwise is kept, and its last lines are part of the error when it crashes.

## Frames and messages

A frame is a length, in eight bytes, the lowest first, and that many bytes: one message.
A message is a [msgpack](https://github.com/msgpack/msgpack/blob/master/spec.md) array whose first item is its tag, a number; the others are its fields in their order.
Records inside a message, such as a space, are msgpack maps by the names of their fields; a space has its kind under `type`.
Texts are UTF-8. There are no extension types.

The client asks and the program answers, one reply for each request, in order.
Nothing is sent unasked, and nothing follows a reply.
The client checks each reply: names are unique and not empty, spaces have at least one value, there are as many observations as were asked for, `applied` is the number of actions unless one ended the episode, and the process of a fork is a new one. Any other reply ends the session with a `ServiceTransportError`.
Control characters in names, messages and warnings are escaped.

A program may refuse a frame that is longer than 2^30 bytes by ending, and the client refuses one too. The reply to `Fork` has at most 2^16 bytes.
A length says nothing about what will come: do not reserve memory for it unread.
Where the stream ends, within a message or between two, the program ends itself.

## What is unknown

- A field after the last known one is ignored. One that is missing has its default.
- A key of a map that is unknown is ignored.
- A request with an unknown tag, or of another shape, is answered by `Failed` of the kind `ServiceTransportError` with `recoverable` true. The session is as it was.
- A capability that is unknown is ignored.

Within a version only such additions are made. Whatever else changes is another version.

## Deadlines, cancelling, and the end

The client keeps the deadlines: a program that does not answer in time is killed, with all processes of its group.
A request is cancelled by closing the socket.
A program whose socket was closed has three seconds to leave by itself.
The memory of its processes is bounded (`RLIMIT_AS`). One that is refused memory ends with status 86, by which the client knows it.
The program ends with its client, however that ends: the kernel sees to it.

## Requests
"""
_FORKS = """
## Forks

A program that says the capability `fork` copies itself when it is asked, and hands the copy over: the reply `Forked` is sent by `sendmsg` with the descriptor of a socket (`SCM_RIGHTS`), at whose other end the copy serves the same session.
The copy must be a child of the program's own parent, and not of the program: fork twice and let the process between end, as the parent adopts orphans.
It leads a process group of its own (`setsid`), asks the kernel for its end with its parent (`PR_SET_PDEATHSIG`) after it was adopted, and then begins to serve.
Files below `COMPILER_GYM_SCRATCH` belong to the old process: the copy makes its own.

`Resume` comes to a copy in which nothing was done yet, and begins an episode there.

A program without that capability is copied by replaying its actions.

## Errors

`Failed` names a class of `compiler_gym.errors`, which the caller gets.
After it the session is gone, unless `recoverable` is true: then nothing was changed.
An observation that cannot be computed is no `Failed`: the actions were applied, and `Stepped.failure` says the class and the text.

| kind | when |
|---|---|
"""
_KINDS = (
    "BenchmarkInitError",
    "InvalidActionError",
    "UnknownNameError",
    "InvalidParameterError",
    "ObservationError",
    "CompilerDiagnosticError",
    "CompilerFatalError",
    "InvalidIrError",
    "ModuleTooLargeError",
    "SessionError",
    "SessionNotFound",
    "ServiceOSError",
    "ServiceTransportError",
    "EnvironmentNotSupported",
    "WorkerOutOfMemoryError",
)
_EPISODE = """
## An episode

Of Python's own worker, with the compiler of the library's tests, whose programs are numbers.
Bytes are shown in hexadecimal, without the eight of the length.
The whole of it, with the description in full, is `transcripts/episode-v1.jsonl`.

"""
_FIRST_BYTES = 48


def session_protocol_page() -> str:
    """Return the page."""
    return "".join(
        [
            _HEAD,
            *(f"- `{_variable(one)}`: {_described(one)}\n" for one in Carrier),
            _FRAMES,
            *_messages(Request),
            "\n## Replies\n",
            *_messages(Reply),
            "\n## Records\n",
            *_records(),
            _FORKS,
            *(f"| `{kind}` | {_first_line(getattr(errors, kind))} |\n" for kind in _KINDS),
            _EPISODE,
            *_shown_episode(),
        ]
    )


def protocol_schema() -> str:
    """Return the schema of every message, as JSON."""
    kinds = [*get_args(Request), *get_args(Reply)]
    schemas, components = msgspec.json.schema_components(kinds)
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"The session protocol of compiler_gym, version {PROTOCOL}",
        "oneOf": list(schemas),
        "$defs": components,
    }
    return json.dumps(document, indent=1) + "\n"


@cache
def recorded_episode() -> str:
    """Return an episode of Python's own worker, a line for each message."""
    zygote = zygote_for(SessionSource("compiler_gym.testing.fakes:FakeSession"))
    channel, _ = zygote.spawn(Limits().memory_bytes)
    program = BenchmarkSpec("benchmark://fake-v0/7", b"7")
    requests = [
        Hello([PROTOCOL], ["descriptors"]),
        Start(program, "Safe", ["number"], {"growth": 64.0}),
        Step([0, 1], ["number", "digits", "vector"]),
        Step([], ["there is none"]),
        Step([99], []),
        Stop(),
        Step([], []),
    ]
    lines: list[str] = []
    for request in requests:
        sent = msgspec.msgpack.encode(request)
        channel.send(sent, 1e18)
        for who, data in (("client", sent), ("program", channel.receive(1e18, 0.0))):
            message = _steady(msgspec.msgpack.decode(data))
            data = msgspec.msgpack.encode(message)
            plain = msgspec.to_builtins(message)
            lines.append(json.dumps({"from": who, "bytes": data.hex(), "message": plain}))
    channel.close()
    return "\n".join(lines) + "\n"


def sdk_files() -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of every file that is made."""
    yield sdk_path() / f"session-v{PROTOCOL}.schema.json", protocol_schema()
    yield sdk_path() / f"transcripts/episode-v{PROTOCOL}.jsonl", recorded_episode()


def _steady(message: list[Any]) -> list[Any]:
    """Return a reply without what differs from run to run: times, and the core."""
    if message[0] == 18:
        message[4] = 0.001
    if message[0] == 19:
        message[8:] = [0, 0.001]
    return message


def _shown_episode() -> Iterator[str]:
    for line in recorded_episode().splitlines():
        row = json.loads(line)
        raw = bytes.fromhex(row["bytes"])
        more = "" if len(raw) <= _FIRST_BYTES else f" ... ({len(raw)} bytes)"
        message = json.dumps(row["message"])
        shown = message if len(message) <= 160 else f"{message[:160]}..."
        yield f"`{row['from']}`: `{shown}`\n\n```text\n{_rows_of_hex(raw[:_FIRST_BYTES])}{more}\n```\n\n"


def _rows_of_hex(raw: bytes) -> str:
    return "\n".join(raw[at : at + 24].hex(" ") for at in range(0, len(raw), 24))


def _variable(carrier: Carrier) -> str:
    return {"descriptor": "fd:3", "stdio": "stdio", "socket": "unix:/path"}[carrier.value]


def _described(carrier: Carrier) -> str:
    return {
        "descriptor": "a socket that the program inherits as descriptor 3. This is the default.",
        "stdio": "standard input and output. The program must print nothing else there.",
        "socket": "a Unix socket at which the client listens. The program connects to it.",
    }[carrier.value]


def _messages(union: Any) -> Iterator[str]:
    for kind in get_args(union):
        tag = kind.__struct_config__.tag
        yield f"\n### {tag}: {kind.__name__}\n\n{_text(kind)}\n"
        yield from _fields(kind)


def _records() -> Iterator[str]:
    from compiler_gym import session

    yield "\nA default is what a missing field is.\n"
    names = ["BenchmarkSpec", "ActionSpaceSpec", "ObservationSpec", "FlagSpec", "PartSpec"]
    for kind in [getattr(session, name) for name in names] + list(get_args(SpaceSpec)):
        tag = kind.__struct_config__.tag
        title = f"`{tag}`, a space" if tag else kind.__name__
        if kind.__struct_config__.array_like:
            title += ", an array"
        yield f"\n### {title}\n\n{_text(kind)}\n"
        yield from _fields(kind)


def _fields(kind: Any) -> Iterator[str]:
    found = msgspec.structs.fields(kind)
    if not found:
        return
    said = _attribute_texts(kind)
    yield "\n| field | type | default | notes |\n|---|---|---|---|\n"
    for one in found:
        default = "" if one.required else f"`{_default(one)}`"
        words = said.get(one.name, "").replace("\n", " ").replace("|", "\\|").replace("``", "`")
        yield f"| `{one.name}` | {_type_name(one.type)} | {default} | {words} |\n"


def _default(field: Any) -> str:
    made = field.default is msgspec.NODEFAULT
    return msgspec.json.encode(field.default_factory() if made else field.default).decode()


def _type_name(annotation: Any) -> str:
    """Return the name of a type in words of msgpack."""

    names = {int: "integer", float: "float", str: "text", bytes: "binary", bool: "boolean"}
    if annotation in names:
        return names[annotation]
    if annotation is type(None):
        return "nil"
    if annotation is Any:
        return "any"
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation == SpaceSpec or set(inner) >= set(get_args(SpaceSpec)):
        return "a space" if len(inner) == len(get_args(SpaceSpec)) else "a space or nil"
    if origin in (UnionType, Union):
        return " or ".join(map(_type_name, inner))
    if origin is dict:
        return f"map of text to {_type_name(inner[1])}"
    if origin in (list, tuple):
        return f"list of {_type_name(inner[0])}"
    return "a space" if isinstance(annotation, (str, ForwardRef)) else annotation.__name__


def _attribute_texts(kind: Any) -> dict[str, str]:
    """Return the docstring of each field, which Python itself forgets."""

    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(field.target, ast.Name)
            assert isinstance(text.value, ast.Constant)
            found[field.target.id] = inspect.cleandoc(str(text.value.value))
    return found


def _text(kind: Any) -> str:
    return inspect.getdoc(kind) or ""


def _first_line(kind: Any) -> str:
    return _text(kind).partition("\n")[0]
