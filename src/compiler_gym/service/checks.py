# SPDX-License-Identifier: MIT
"""Checks of replies: each must answer its request, describe valid spaces and print safely.

A worker in any language may send anything. Replies that pass these checks need no further
validation, except for the values of observations, which their spaces decode.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, cast

import msgspec

from compiler_gym import session
from compiler_gym.errors import ServiceTransportError
from compiler_gym.service.messages import (
    Description,
    Failed,
    Fork,
    Forked,
    Hello,
    Parameter,
    ParameterReply,
    Reply,
    Request,
    Resume,
    Start,
    Started,
    Step,
    Stepped,
    Stop,
    Stopped,
    decode_reply,
)

_ANSWERS: dict[type[Any], type[Any]] = {
    Start: Started,
    Resume: Started,
    Step: Stepped,
    Fork: Forked,
    Parameter: ParameterReply,
    Stop: Stopped,
    Hello: Description,
}
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_IN_JSON = re.compile(rb"\\[urbf]|\x7f|\xc2[\x80-\x9f]|\xe2(\x80[\xa8-\xae]|\x81[\xa6-\xa9])")
"""`_CONTROL` in UTF-8 JSON."""
_LONGEST_TEXT = 1 << 16
_DEEPEST = 32
_LARGEST = 1 << 63
_MOST_NUMBERS = 1 << 24
_MOST_CORES = 1 << 16
_DTYPES = {"bool", "float16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_SCALARS = {"int", "float", "bool"}
_T = TypeVar("_T")


def read_reply(payload: bytes, request: Request) -> Reply:
    """Return the reply to `request`; raise `ServiceTransportError` for anything else."""
    try:
        reply = decode_reply(payload)
    except (MemoryError, RecursionError, TypeError, ValueError) as error:
        raise _make_refusal(printable(str(error))) from error
    require_answer(reply, request)
    return reply


def require_answer(reply: Reply, request: Request) -> None:
    """Raise `ServiceTransportError` unless `reply` answers `request`; make its texts printable."""
    if (
        type(reply) is Stepped
        and type(request) is Step
        and reply.applied == len(request.actions)
        and len(reply.observations) == len(request.observations)
        and reply.failure is reply.action_space is reply.warnings is None
        and 0.0 <= reply.seconds < math.inf
        and -1 <= reply.core < _MOST_CORES
    ):
        return  # the fast path: every step takes it
    try:
        fault = next(_faults(reply, request), None)
        if fault is None:
            _escape(reply)
    except (MemoryError, RecursionError, TypeError, ValueError) as error:
        fault = str(error)
    if fault is not None:
        raise _make_refusal(printable(fault))


def printable(text: str) -> str:
    """Return `text` shortened if very long, with control characters except tab and newline escaped.

    >>> printable("red: \\x1b[31m")
    'red: \\\\x1b[31m'
    """
    text = text.replace("\r\n", "\n")
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT]}... ({len(text) - _LONGEST_TEXT} more characters)"
    return _CONTROL.sub(lambda control: control[0].encode("unicode_escape").decode(), text)


def _make_refusal(fault: str) -> ServiceTransportError:
    return ServiceTransportError(f"the worker sent a malformed message: {fault}")


def _faults(reply: Reply, request: Request) -> Iterator[str]:
    expected, kind = _ANSWERS[type(request)], type(reply)
    if kind not in (expected, Failed):
        yield f"expected {expected.__name__}, got {kind.__name__}"
    requested = len(request.actions) if isinstance(request, Step) else 0
    applied = reply.applied if isinstance(reply, (Stepped, Failed)) else 0
    if not 0 <= applied <= requested:
        yield f"{applied} of {requested} actions applied"
    if isinstance(reply, Description):
        yield from _faults_of_description(reply)
    elif isinstance(reply, Forked) and not 0 < reply.pid < 1 << 22:
        yield f"process id {reply.pid}"
    elif isinstance(reply, (Started, Stepped)):
        failure = reply.failure if isinstance(reply, Stepped) else None
        names = cast("Start | Step | Resume", request).observations
        count = 0 if failure is not None else len(names)
        if len(reply.observations) != count:
            yield f"expected {count} observations, got {len(reply.observations)}"
        if failure is not None and len(failure) != 2:
            yield f"expected the class and the message of a failure, got {len(failure)} texts"
        if not 0.0 <= reply.seconds < math.inf:
            yield f"{reply.seconds} seconds"
        if reply.action_space is not None:
            yield from _faults_of_actions(reply.action_space)
    if isinstance(reply, Stepped):
        if applied < requested and not reply.end:
            yield f"{applied} of {requested} actions applied without an end of the episode"
        if not -1 <= reply.core < _MOST_CORES:
            yield f"core number {reply.core}"


def _faults_of_description(description: Description) -> Iterator[str]:
    actions, observations = description.action_spaces, description.observation_spaces
    if not actions:
        yield "expected at least one action space"
    yield from _faults_of_names("action spaces", [spec.name for spec in actions])
    yield from _faults_of_names("observation spaces", [spec.name for spec in observations])
    for spec in actions:
        yield from _faults_of_actions(spec)
    for spec in observations:
        for fault in _faults_of_space(spec.space):
            yield f"the observation space {spec.name!r}: {fault}"


def _faults_of_actions(spec: session.ActionSpaceSpec) -> Iterator[str]:
    yield from _faults_of_names("action spaces", [spec.name])
    for fault in _faults_of_space(spec.space):
        yield f"the action space {spec.name!r}: {fault}"
    if isinstance(spec.space, (session.NamedDiscreteSpec, session.CommandlineSpec)):
        count = len(spec.space.items)
        if len(spec.sets) not in (0, count) or not all(0 <= i < count for i in spec.varying):
            yield f"the action space {spec.name!r}: `sets` or `varying` do not fit {count} actions"


def _faults_of_names(kind: str, names: Sequence[str]) -> Iterator[str]:
    parts = {tuple(name.split()) for name in names}  # a blank name cannot be written
    if () in parts or len(parts) != len(names):
        yield f"expected {kind} with distinct names, got {names[:20]}"


def _faults_of_space(spec: session.SpaceSpec, depth: int = 1) -> Iterator[str]:
    parts: Sequence[session.SpaceSpec] = ()
    match spec:
        case session.NamedDiscreteSpec(items):
            yield from _faults_of_names("actions", items)
        case session.CommandlineSpec(items):
            yield from _faults_of_names("actions", [item.name for item in items])
        case session.DictSpec(items):
            parts = list(items.values())
            yield from _faults_of_names("parts", list(items))
        case session.TupleSpec(items):
            parts = items
        case session.SpaceSequenceSpec(part):
            parts = (part,)
        case _:
            pass
    if not _is_valid(spec):
        text = repr(spec)
        yield f"invalid space {text[:200] + '...' if len(text) > 200 else text}"
    if parts and depth >= _DEEPEST:
        yield f"spaces are nested more than {_DEEPEST} deep"
    else:
        for part in parts:
            yield from _faults_of_space(part, depth + 1)


def _is_valid(spec: session.SpaceSpec) -> bool:
    """Return whether the numbers of a space are consistent and not too large."""
    match spec:
        case session.DiscreteSpec(n, start):
            return 0 < n < _LARGEST and -_LARGEST <= start <= _LARGEST - n
        case session.NamedDiscreteSpec(items) | session.CommandlineSpec(items):
            return bool(items)
        case session.MultiDiscreteSpec(nvec, described):
            fits = len(described) in (0, len(nvec)) and len(nvec) > 0
            return fits and all(0 < n < _LARGEST for n in nvec)
        case session.MultiBinarySpec(n) | session.PermutationSpec(n):
            return 0 < n <= _MOST_NUMBERS
        case session.BoxSpec(low, high, shape, dtype):
            fits = dtype in _DTYPES and len(shape) <= _DEEPEST
            fits = fits and all(-1 <= axis <= _MOST_NUMBERS for axis in shape)
            return fits and math.prod(shape) <= _MOST_NUMBERS and low <= high and _fits(spec)
        case session.ScalarSpec(low, high, dtype):
            return dtype in _SCALARS and _is_range(low, high)
        case session.TextSpec(low, high) | session.SpaceSequenceSpec(_, low, high):
            return low >= 0 and _is_range(low, high)
        case session.SequenceSpec(dtype, shortest, longest, low, high):
            fits = dtype in _SCALARS | {"bytes", "str"} and _is_range(low, high)
            fits = fits and shortest >= 0 and _is_range(shortest, longest)
            return fits and (dtype != "str" or low is high is None)
        case _:
            return True


def _is_range(low: float | None, high: float | None) -> bool:
    """Return whether there is a number from `low` to `high`; None is unbounded."""
    return (-math.inf if low is None else low) <= (math.inf if high is None else high)


def _fits(spec: session.BoxSpec) -> bool:
    """Return whether the bounds are representable in the dtype."""
    import numpy as np  # imported late: a worker does not need it

    from compiler_gym import spaces

    if spec.low == math.inf or spec.high == -math.inf:
        return False
    if spec.dtype != "bool":
        limits = np.finfo(spec.dtype) if "float" in spec.dtype else np.iinfo(spec.dtype)
        if any(
            abs(end) < math.inf and not limits.min <= end <= limits.max
            for end in (spec.low, spec.high)
        ):
            return False
    try:
        spaces.Box(spec.low, spec.high, "", (), spec.dtype)
    except (ArithmeticError, AssertionError, TypeError, ValueError):
        return False
    return True


def _escape(reply: Reply) -> None:
    """Escape characters that control a terminal in every text that may be printed."""
    if isinstance(reply, Failed):
        reply.kind, reply.message = printable(reply.kind), printable(reply.message)
    elif isinstance(reply, Description):
        reply.compiler_version = printable(reply.compiler_version)
        reply.action_spaces = [_escape_in(spec) for spec in reply.action_spaces]
        reply.observation_spaces = [_escape_in(spec) for spec in reply.observation_spaces]
    elif isinstance(reply, (Started, Stepped)):
        if reply.action_space is not None:
            reply.action_space = _escape_in(reply.action_space)
        if reply.warnings is not None:
            reply.warnings = [(printable(kind), printable(text)) for kind, text in reply.warnings]
        if isinstance(reply, Stepped) and reply.failure is not None:
            reply.failure = [printable(text) for text in reply.failure]


def _escape_in(record: _T) -> _T:
    if _IN_JSON.search(msgspec.json.encode(record)) is None:
        return record
    plain = msgspec.to_builtins(record, builtin_types=(bytes,))
    return msgspec.convert(_printable_all(plain), type(record))


def _printable_all(plain: Any) -> Any:
    if isinstance(plain, str):
        return printable(plain)
    if isinstance(plain, (list, tuple)):
        return [_printable_all(item) for item in cast("Sequence[Any]", plain)]
    if isinstance(plain, dict):
        items = cast("dict[Any, Any]", plain).items()
        return {_printable_all(key): _printable_all(item) for key, item in items}
    return plain
