# SPDX-License-Identifier: MIT
"""Each action of the fake does what its name says, and the environment lives through it."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from compiler_gym.errors import CompilerFatalError
from compiler_gym.testing import FakeEnv
from compiler_gym.testing.behaviours import BEHAVIOURS, SAFE


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
    session = SimpleNamespace(number=number)
    assert BEHAVIOURS[name](session) is (True if name == "end" else None)
    assert session.number == after


def test_those_that_raise_do() -> None:
    session = SimpleNamespace(number=1)
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
        session = SimpleNamespace(number=3)
        SAFE[name](session)
        assert isinstance(session.number, int)
