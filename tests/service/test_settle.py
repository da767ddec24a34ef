# SPDX-License-Identifier: MIT
"""What is read of replies where they lie is what decoding them gives."""

import contextlib
import socket
from collections.abc import Generator
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym._service import exchange_at_once, hold_all, settle
from compiler_gym.service.messages import Failed, Stepped, decode_reply, encode
from compiler_gym.service.transport import Channel
from compiler_gym.session import ActionSpaceSpec, NamedDiscreteSpec
from tests.effort import examples

SIZE = 3 * 8


@contextlib.contextmanager
def answered(*messages: bytes) -> Generator[list[Channel]]:
    """Give channels on which `messages` have come as replies."""
    pairs = [socket.socketpair() for _ in messages]
    channels = [Channel(ours) for ours, _ in pairs]
    try:
        for (_, theirs), channel, message in zip(pairs, channels, messages, strict=True):
            channel.hold(b"question", 10.0)
            theirs.sendall(len(message).to_bytes(8, "little") + message)
        exchange_at_once(channels, 0.0, 0.0)
        yield channels
    finally:
        for ours, theirs in pairs:
            ours.close()
            theirs.close()


def settled(
    message: bytes, *, cost_is_float: bool = False, count: int = 2
) -> tuple[Any, list[int], bool, bytes]:
    """Return the cost, what was seen, whether there was no effect, and what is left."""
    seen = np.full((1, 3), -1, dtype=np.int64)
    no_effect = np.ones(1, dtype=np.bool_)
    with answered(message) as (channel,):
        (cost,) = settle([channel], seen, no_effect, 0, 1, cost_is_float, count)
        left = channel.receive() if channel.awaits else b""
    return cost, seen[0].tolist(), bool(no_effect[0]), left


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=300)
    | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=10,
)
arrays = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3)
spaces = st.none() | st.just(ActionSpaceSpec("other", NamedDiscreteSpec(("a", "b"))))
texts = st.none() | st.lists(st.text(max_size=9), min_size=2, max_size=2)
warnings = st.none() | st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=2)


def usual(seen: Any, cost: Any, *others: Any, no_effect: bool = False, **more: Any) -> Stepped:
    values = [seen, cost, *others]
    return Stepped(False, None, no_effect, values, 1, core=3, seconds=0.5, **more)


@settings(max_examples=examples(200))
@given(
    seen=arrays,
    cost=st.integers(-(2**63), 2**63 - 1),
    others=st.lists(plain, max_size=3),
    no_effect=st.booleans(),
)
def test_a_usual_reply_is_taken_in(
    seen: list[int], cost: int, others: list[Any], no_effect: bool
) -> None:
    data = np.array(seen, dtype="<i8").tobytes()
    message = encode(usual(data, cost, *others, no_effect=no_effect))
    count = 2 + len(others)
    assert settled(message, count=count) == (cost, seen, no_effect, b"")
    as_float = settled(message, cost_is_float=True, count=count)
    assert as_float == (float(cost), seen, no_effect, b"")
    assert type(as_float[0]) is float


@settings(max_examples=examples(300))
@given(
    end=st.booleans(),
    space=spaces,
    values=st.lists(plain, max_size=3),
    applied=st.integers(0, 3),
    failure=texts,
    warnings=warnings,
    data=st.binary(min_size=SIZE, max_size=SIZE),
    is_array=st.booleans(),
)
def test_a_reply_that_says_more_is_left_as_it_is(
    end: bool,
    space: Any,
    values: list[Any],
    applied: int,
    failure: Any,
    warnings: Any,
    data: bytes,
    is_array: bool,
) -> None:
    observations = [data, *values] if is_array else values
    message = encode(Stepped(end, space, False, observations, applied, failure, warnings))
    cost, seen, no_effect, left = settled(message)
    is_usual = (
        (end, space, applied, failure, warnings) == (False, None, 1, None, None)
        and len(observations) == 2
        and type(observations[0]) is bytes
        and len(observations[0]) == SIZE
        and type(observations[1]) is int
        and observations[1] < 2**63
    )
    if is_usual:
        assert (cost, left) == (observations[1], b"")
        assert seen == np.frombuffer(observations[0], dtype="<i8").tolist()
    else:
        assert (cost, seen, no_effect, left) == (None, [-1, -1, -1], True, message)


@settings(max_examples=examples(300))
@given(st.binary(max_size=200) | plain.map(msgspec.msgpack.encode))
def test_what_is_no_such_reply_is_left_as_it_is(message: bytes) -> None:
    assert settled(message) == (None, [-1, -1, -1], True, message)


@settings(max_examples=examples(100))
@given(cut=st.integers(0, 200), nested=st.integers(0, 200))
def test_a_reply_cut_short_or_too_deep_is_left_as_it_is(cut: int, nested: int) -> None:
    deep: Any = 1
    for _ in range(nested):
        deep = [deep]
    whole = msgspec.msgpack.encode([19, False, None, False, [bytes(SIZE), 4, deep], 1])
    rest = msgspec.msgpack.encode([None, None, 3, 0.5])[1:]
    message = b"\x9a" + whole[1:] + rest
    if nested < 60:
        assert settled(message, count=3)[0] == 4
        assert settled(message, count=2) == (None, [-1, -1, -1], True, message)
    if nested > 70:
        assert settled(message, count=3)[0] is None
    short = message[: len(message) - 1 - cut]
    assert settled(short, count=3) == (None, [-1, -1, -1], True, short)


def test_each_row_is_its_own() -> None:
    failed = encode(Failed("CompilerError", "no"))
    rows = [encode(usual(np.full(3, n).tobytes(), n + 0.5)) for n in range(4)]
    rows[2] = failed
    seen, no_effect = np.full((4, 3), -1), np.ones(4, dtype=np.bool_)
    with answered(*rows) as channels:
        assert settle(channels, seen, no_effect, 0, 1, True) == [0.5, 1.5, None, 3.5]
        assert [channel.awaits for channel in channels] == [False, False, True, False]
        assert isinstance(decode_reply(channels[2].receive()), Failed)
        assert [(channel.core, channel.seconds) for channel in channels] == [
            (3, 0.5) if row != 2 else (-1, 0.0) for row in range(4)
        ]
    assert seen[:, 0].tolist() == [0, 1, -1, 3]
    assert no_effect.tolist() == [False, False, True, False]


def test_arrays_of_other_sizes_are_refused() -> None:
    with answered(b"", b"") as channels:
        flags = np.zeros(2, dtype=np.bool_)
        with pytest.raises(ValueError, match="a row for each channel"):
            settle(channels, np.zeros((3, 3)), flags, 0, 1, False)
        with pytest.raises(ValueError, match="a row for each channel"):
            settle(channels, np.zeros((2, 3)), np.zeros(2), 0, 1, False)
        readonly = np.zeros((2, 3))
        readonly.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            settle(channels, readonly, flags, 0, 1, False)
        assert settle(channels, np.zeros((2, 3)), flags, 0, 1, False) == [None, None]
    assert settle([], np.zeros((0, 3)), flags[:0], 0, 1, False) == []


def test_requests_are_held_all_or_none() -> None:
    with answered(b"", b"") as channels:
        assert not hold_all(channels, [b"one", b"two"], [1.0, 1.0]), "they await replies"
        for channel in channels:
            channel.receive()
        wrong: tuple[tuple[list[Any], list[float]], ...] = (
            ([b"one"], [1.0]),
            ([b"one", "two"], [1.0] * 2),
            ([b""] * 2, [1.0]),
        )
        for payloads, limits in wrong:
            with pytest.raises((ValueError, RuntimeError)):
                hold_all(channels, payloads, limits)
        assert not any(channel.is_held for channel in channels)
        assert hold_all(channels, [b"one", b"two"], [1.0, 1.0])
        assert not hold_all(channels, [b"one", b"two"], [1.0, 1.0]), "they hold others"
