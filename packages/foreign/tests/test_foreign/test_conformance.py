# SPDX-License-Identifier: MIT
"""The checks of a program see each promise that it breaks."""

import sys

import pytest

from compiler_gym.errors import ServiceInitError
from compiler_gym.service import SessionSource
from compiler_gym.session import BenchmarkSpec
from compiler_gym_foreign.conformance import check_service, matches

SERVE = (sys.executable, "-m", "compiler_gym.service.serve")
SEVEN = BenchmarkSpec("benchmark://fake-v0/7", b"7")
BROKEN = """
import os, socket, sys
import msgspec
sock = socket.socket(fileno=int(os.environ["COMPILER_GYM_SESSION"][3:]))
stream = sock.makefile("rwb")
count = 0
while head := stream.read(8):
    data = stream.read(int.from_bytes(head, "little"))
    message = msgspec.msgpack.decode(data)  # what is none ends it
    count += 1
    reply = [23, "SessionError", "what?", 0, False]
    if message[0] == 1:
        reply = [18, None, [str(count)] * len(message[3])]
    elif message[0] == 2:
        reply = [19, False, None, True, [str(os.getpid())] * len(message[2]), len(message[1])]
    elif message[0] == 5:
        reply = [22]
    elif message[0] == 7:
        actions = [{"name": "A", "space": {"type": "discrete", "n": 3}}]
        reply = [17, 1, "broken 1", actions, [{"name": "o", "space": {"type": "text"}}], []]
    data = msgspec.msgpack.encode(reply)
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()
"""


@pytest.mark.slow
def test_pythons_own_worker_keeps_every_promise() -> None:
    source = SessionSource.of_program([*SERVE, "compiler_gym.testing.fakes:FakeSession"])
    problems = {check.name: check.problem for check in check_service(source, SEVEN)}
    slow = "a round trip takes at most 50 microseconds"  # this machine may be busy
    assert not {name: said for name, said in problems.items() if said and name != slow}
    assert len(problems) > 25


@pytest.mark.slow
def test_broken_promises_are_named() -> None:
    source = SessionSource.of_program([sys.executable, "-c", BROKEN])
    problems = {check.name: check.problem for check in check_service(source, SEVEN)}
    assert problems["transcript: the handshake"] == ""
    assert "not [23, 'SessionNotFound'" in problems["transcript: requests without an episode"]
    assert "o differs" in problems["the same actions produce the same observations"]
    assert (
        "it did not reply: it ended with exit status 1" in problems["bad bytes: an empty message"]
    )
    assert "transcript: an episode begins again where it began" not in problems


def test_a_program_that_does_not_start_is_an_error() -> None:
    with pytest.raises(ServiceInitError, match="exit status 1"):
        next(check_service(SessionSource.of_program(["false"]), SEVEN))


@pytest.mark.parametrize(
    ("pattern", "found", "fits"),
    [
        ([22], [22], True),
        ([22], [22, "more"], True),
        ([22, 1], [22], False),
        ([19, "$any"], [19, {"a": 1}], True),
        ([19, list[str]()], [19, ["o"]], False),
        ([19, True], [19, 1], False),
        ([22], "22", False),
    ],
)
def test_a_transcript_fits_a_reply_that_says_as_much(
    pattern: object, found: object, fits: bool
) -> None:
    assert matches(pattern, found) is fits
