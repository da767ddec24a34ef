# SPDX-License-Identifier: MIT
"""Messages survive the way there and back, and nothing else is taken for one."""

import subprocess
import sys

import msgspec
import pytest

from compiler_gym.service.messages import (
    Description,
    Failed,
    Fork,
    Forked,
    Hello,
    Parameter,
    ParameterReply,
    Start,
    Started,
    Step,
    Stepped,
    Stop,
    Stopped,
    check_layout,
    decode_reply,
    decode_request,
    encode,
)
from compiler_gym.session import BenchmarkSpec, ObservationSpec, ScalarSpec
from compiler_gym.testing import FakeSession

SPACES = list(FakeSession.action_spaces)


@pytest.mark.parametrize(
    "request_",
    [
        Start(BenchmarkSpec("benchmark://a/b", b"\x00\xff", {"goal": "speed"}), None, ["Ir"], {}),
        Step([1, {"order": [2, 1], "x": 0.5}, [1, "a"], b"raw"], ["Ir"]),
        Step([], []),
        Fork(),
        Hello([1, 2], ["descriptors"]),
        Parameter("key", "value"),
        Stop(),
    ],
)
def test_a_request_survives(request_: msgspec.Struct) -> None:
    assert decode_request(encode(request_)) == request_


@pytest.mark.parametrize(
    "reply",
    [
        Description(1, "fake", SPACES, list(FakeSession.observation_spaces), ["fork"]),
        Started(SPACES[3], [1, "text", b"bytes", None, {"a": [1.5]}]),
        Stepped(True, None, False, [2**63 - 1, -(2**63)], 3, ["ObservationError", "no"]),
        Forked(17),
        ParameterReply(None),
        Stopped(),
        Failed("SessionError", "message", 2, True),
    ],
)
def test_a_reply_survives(reply: msgspec.Struct) -> None:
    assert decode_reply(encode(reply)) == reply


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x91\x63", encode(Stopped()), b"{}", b"\x93\x02"])
def test_an_invalid_request_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        decode_request(data)


@pytest.mark.parametrize(
    "drifted",
    [
        "STEPPED_TAG = 20",
        "STEPPED_FIELDS = _service.STEPPED_FIELDS[:-1]",
        "STEPPED_FIELDS = _service.STEPPED_FIELDS[::-1]",
        "STEPPED_FIELDS = (*_service.STEPPED_FIELDS, 'more')",
    ],
)
def test_messages_that_the_native_module_would_misread_are_not_imported(drifted: str) -> None:
    program = (
        f"from compiler_gym import _service\n_service.{drifted}\n"
        "import compiler_gym.service.messages\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode != 0
    assert "ImportError: expected Stepped with tag" in done.stderr


def test_a_field_that_is_unknown_is_ignored_and_one_that_is_missing_has_its_default() -> None:
    more = msgspec.msgpack.encode([7, [1], ["descriptors"], "of a later version"])
    assert decode_request(more) == Hello([1], ["descriptors"])
    assert decode_request(msgspec.msgpack.encode([7, [1]])) == Hello([1], [])
    scalar = {"type": "scalar", "dtype": "int", "unit": "of a later version"}
    later = [17, 1, "c 1", [], [{"name": "size", "space": scalar, "shade": 3}]]
    reply = decode_reply(msgspec.msgpack.encode(later))
    assert isinstance(reply, Description)
    assert reply.observation_spaces == [ObservationSpec("size", ScalarSpec(dtype="int"))]
    assert not reply.forkable


def test_a_layout_is_the_tag_and_the_fields_in_their_order() -> None:
    check_layout(Forked, 20, ("pid",))
    with pytest.raises(ImportError, match="expected Forked with tag 20 and fields"):
        check_layout(Forked, 20, ("process",))
    with pytest.raises(ImportError, match="got 20"):
        check_layout(Forked, 21, ("pid",))
