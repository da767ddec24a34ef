# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import ClassVar

import pytest

from compiler_gym.service.messages import Failed, Parameter, ParameterReply, Start, Step
from compiler_gym.service.servicer import Servicer
from compiler_gym.service.stopwatch import APPLY, TIMES, TimedCall, TimedSession, read_times
from compiler_gym.session import BenchmarkSpec, Layer, TimedPart
from compiler_gym.testing.fakes import FakeSession

START = Start(BenchmarkSpec("benchmark://fake-v0/5", b"5"), None, ["number"], {})


@pytest.fixture
def servicer(tmp_path: Path) -> Servicer:
    return Servicer(FakeSession, lambda: tmp_path / "session")


def take(servicer: Servicer) -> list[TimedCall]:
    reply = servicer.handle(Parameter(TIMES, "take"))
    assert isinstance(reply, ParameterReply)
    assert reply.value is not None
    calls = read_times(reply.value)
    assert all(call.part.nanoseconds >= 0 for call in calls)
    return [call for call in calls if call.part.layer is not Layer.PROFILER]


def names(calls: list[TimedCall]) -> list[tuple[Layer, str]]:
    return [(call.part.layer, call.part.name) for call in calls]


def test_a_session_without_timing_is_not_wrapped(servicer: Servicer) -> None:
    servicer.handle(START)
    assert type(servicer.session) is FakeSession
    assert take(servicer) == []


def test_calls_are_noted_from_the_start_until_they_are_taken(servicer: Servicer) -> None:
    assert servicer.handle(Parameter(TIMES, "on")) == ParameterReply("on")
    servicer.handle(START)
    servicer.handle(Step([0, 1], ["number", "digits"]))
    calls = take(servicer)
    assert names(calls) == [
        (Layer.RESET, "start the session"),
        (Layer.OBSERVATIONS, "number"),
        (Layer.ACTIONS, APPLY),
        (Layer.ACTIONS, APPLY),
        (Layer.OBSERVATIONS, "number"),
        (Layer.OBSERVATIONS, "digits"),
    ]
    assert [call.began for call in calls] == sorted(call.began for call in calls)
    assert take(servicer) == []


def test_a_session_that_runs_is_timed_from_then_on_and_no_longer_than_asked(
    servicer: Servicer,
) -> None:
    servicer.handle(START)
    inner = servicer.session
    servicer.handle(Parameter(TIMES, "on"))
    servicer.handle(Parameter(TIMES, "on"))
    assert isinstance(servicer.session, TimedSession)
    assert servicer.session.session is inner
    servicer.handle(Step([0], []))
    assert names(take(servicer)) == [(Layer.ACTIONS, APPLY)]
    servicer.handle(Parameter(TIMES, "off"))
    assert servicer.session is inner
    servicer.handle(Step([0], ["number"]))
    assert take(servicer) == []


def test_a_call_that_fails_is_noted_with_the_others(servicer: Servicer) -> None:
    space = next(s for s in FakeSession.action_spaces if s.name == "Behaviours")
    servicer.handle(Parameter(TIMES, "on"))
    servicer.handle(Start(START.benchmark, "Behaviours", [], {}))
    raises = space.space.items.index("raise")  # type: ignore[union-attr]  # names
    assert isinstance(servicer.handle(Step([0, raises], [])), Failed)
    assert names(take(servicer))[1:] == [(Layer.ACTIONS, APPLY)] * 2
    assert servicer.session is None


def test_processes_are_parts_of_the_call_that_ran_them(servicer: Servicer) -> None:
    servicer.handle(Parameter(TIMES, "on"))
    servicer.handle(START)
    servicer.handle(Step([], ["child"]))
    child = take(servicer)[-1].part
    (part,) = child.parts
    assert (part.layer, part.name, part.calls) == (Layer.PROCESSES, "cat", 1)
    assert 0 < part.nanoseconds <= child.nanoseconds


def test_a_copy_of_the_process_is_not_timed(servicer: Servicer) -> None:
    servicer.handle(Parameter(TIMES, "on"))
    servicer.handle(START)
    servicer.move_files(False)  # what the new half of a fork does
    assert type(servicer.session) is FakeSession
    servicer.handle(Step([0], []))
    assert take(servicer) == []


SAID = [TimedPart(Layer.PASSES, "add", 1, 25, [TimedPart(Layer.ANALYSES, "count", 3, 10)])]


class Talkative(FakeSession):
    """Says what its actions consist of, while somebody wants to know."""

    said: ClassVar[list[bool]] = []

    def time_parts(self, is_on: bool) -> None:
        self.said.append(is_on)

    def timed_parts(self) -> list[TimedPart]:
        return SAID


def test_a_session_says_what_went_into_a_call(tmp_path: Path) -> None:
    Talkative.said.clear()
    servicer = Servicer(Talkative, lambda: tmp_path / "session")
    servicer.handle(START)
    assert Talkative.said == []
    servicer.handle(Parameter(TIMES, "on"))
    servicer.handle(Step([0], []))
    assert take(servicer)[0].part.parts == SAID
    servicer.handle(Parameter(TIMES, "off"))
    assert Talkative.said == [True, False]


def test_an_unknown_value_is_refused(servicer: Servicer) -> None:
    reply = servicer.handle(Parameter(TIMES, "maybe"))
    assert isinstance(reply, Failed)
    assert reply.kind == "InvalidParameterError"
    assert "must be on, off or take" in reply.message
