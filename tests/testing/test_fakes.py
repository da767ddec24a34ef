# SPDX-License-Identifier: MIT
"""The fake session is a number that behaves well or badly, as its action says."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compiler_gym.core.specs import space_from_spec, value_from_plain
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerFatalError,
    EnvironmentNotSupported,
    InvalidActionError,
    ObservationError,
)
from compiler_gym.session import BenchmarkSpec, DiscreteSpec, ObservationSpaceSpec
from compiler_gym.testing import FakeEnv, FakeSession, UnforkableSession
from compiler_gym.testing.fakes import BEHAVIOURS, SAFE


@pytest.fixture
def env() -> Iterator[FakeEnv]:
    with FakeEnv(action_space="Behaviours") as made:
        made.reset()
        yield made


@pytest.mark.parametrize(
    ("name", "number", "after"),
    [
        ("add", 7, 8),
        ("double", 7, 14),
        ("double", 2**19 + 1, 2),
        ("negate", -7, 7),
        ("nothing", 7, 7),
        ("end", 7, 8),
        ("overflow", 7, 2**70),
    ],
)
def test_a_number_becomes_another(name: str, number: int, after: int) -> None:
    session: Any = SimpleNamespace(number=number)
    assert BEHAVIOURS[name](session) is (True if name == "end" else None)
    assert session.number == after


def test_those_that_raise_do() -> None:
    session: Any = SimpleNamespace(number=1)
    with pytest.raises(ZeroDivisionError, match="an error of the session's own"):
        BEHAVIOURS["raise"](session)
    with pytest.raises(CompilerFatalError, match="the compiler gave up"):
        BEHAVIOURS["fatal"](session)
    with pytest.raises(OSError, match="No space left on device"):
        BEHAVIOURS["fill_disk"](session)
    with pytest.raises(SystemExit, match="3"):
        BEHAVIOURS["system_exit"](session)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("segfault", {"signal_name": "SIGSEGV"}),
        ("abort", {"signal_name": "SIGABRT"}),
        ("exit", {"exit_status": 3}),
    ],
)
def test_those_that_end_the_worker_do_it_their_own_way(
    env: FakeEnv, name: str, facts: dict[str, Any]
) -> None:
    _, _, _, truncated, info = env.step([*BEHAVIOURS].index(name))
    assert truncated
    assert info["error_type"] == "WorkerCrashedError"
    assert {key: getattr(info["error"], key) for key in facts} == facts


def test_a_session_that_only_computes_is_safe() -> None:
    assert set(SAFE) < set(BEHAVIOURS)
    assert all(BEHAVIOURS[name] is SAFE[name] for name in SAFE)
    for name in ("add", "double", "negate", "nothing"):
        session: Any = SimpleNamespace(number=3)
        SAFE[name](session)
        assert isinstance(session.number, int)


SPACES = {space.name: space for space in FakeSession.action_spaces}


def session(path: Path, number: int = 7, space: str = "Safe", **parameters: str) -> FakeSession:
    spec = BenchmarkSpec("benchmark://fake-v0/x", str(number).encode(), parameters)
    return FakeSession(path, SPACES[space], spec)


@pytest.mark.parametrize("spec", FakeSession.observation_spaces, ids=lambda spec: spec.name)
@pytest.mark.parametrize("number", [0, 7, 1000])
def test_every_observation_lies_in_its_space(
    tmp_path: Path, spec: ObservationSpaceSpec, number: int
) -> None:
    plain = session(tmp_path / "made", number).get_observation(spec.name)
    assert value_from_plain(spec.space)(plain) in space_from_spec(spec.space, spec.name)


def test_forms_of_the_number_agree(tmp_path: Path) -> None:
    made = session(tmp_path, -3)
    assert made.get_observation("digits") == "-3"
    assert made.get_observation("vector") == [-3, 9, -1]
    assert np.frombuffer(made.get_observation("packed"), "<i8").tolist() == [-3, 9, -1]
    assert np.frombuffer(made.get_observation("floats"), "<f8").tolist() == [-3.0] * 3
    assert json.loads(made.get_observation("json")) == {"number": -3}
    assert made.get_observation("child") == -3
    assert len(made.get_observation("blob")) == 3
    with pytest.raises(ObservationError, match="negative program does not have this value"):
        made.get_observation("unavailable")


def test_an_action_without_effect_reports_it(tmp_path: Path) -> None:
    made = session(tmp_path)
    assert made.apply_action(0) == (False, None, False)
    assert made.apply_action(3) == (False, None, True)
    for wrong in (99, -1, "add", None):
        with pytest.raises(InvalidActionError, match="is not in Safe"):
            made.apply_action(wrong)


def test_a_menu_gets_shorter_and_ends_the_episode(tmp_path: Path) -> None:
    made = session(tmp_path, 0, "Menu")
    sizes: list[int] = []
    for _ in range(3):
        ended, space, _ = made.apply_action(0)
        assert not ended
        assert space is not None
        assert isinstance(space.space, DiscreteSpec)
        sizes.append(space.space.n)
    assert sizes == [3, 2, 1]
    assert made.apply_action(0) == (True, None, False)
    with pytest.raises(InvalidActionError, match=r"4 is not in \[0, 4\)"):
        session(tmp_path, 0, "Menu").apply_action(4)
    shorter = session(tmp_path, 0, "Menu", menu="2")
    assert shorter.initial_action_space is not None
    assert shorter.initial_action_space.space == DiscreteSpec(2)


def test_a_composite_action_adds_its_parts(tmp_path: Path) -> None:
    made = session(tmp_path, 0, "Composite")
    action: dict[str, Any] = {
        "levels": [1, 2],
        "weights": [0.5, 0.25],
        "order": [3, 0, 1, 2],
        "pair": [4, 5],
    }
    made.apply_action(action)
    assert made.number == 3 + 75 + 3 + 9
    with pytest.raises(InvalidActionError, match=r"got \{'levels'\}"):
        made.apply_action({"levels": [1, 2]})


def test_files_follow_the_session_where_it_is_moved(tmp_path: Path) -> None:
    made = session(tmp_path / "a")
    assert Path(made.get_observation("file")) == tmp_path / "a" / "number"
    made.moved(tmp_path / "b")
    assert Path(made.get_observation("file")).read_text() == "7"
    assert (tmp_path / "b" / "number").is_file()


def test_parameters_are_answered_or_unknown(tmp_path: Path) -> None:
    made = session(tmp_path)
    assert made.handle_session_parameter("fake.add", "5") == "12"
    assert made.handle_session_parameter("fake.echo", "hello") == "hello"
    assert made.handle_session_parameter("fake.other", "x") is None


def test_an_invalid_number_and_a_refusing_compiler_are_errors(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkInitError, match="benchmark://fake-v0/x is not a number"):
        FakeSession(tmp_path, SPACES["Safe"], BenchmarkSpec("benchmark://fake-v0/x", b"seven"))
    with pytest.raises(EnvironmentNotSupported, match="no licence"):
        FakeSession.prepare({"refuse": "no licence"})
    assert FakeSession.forkable
    assert not UnforkableSession.forkable
