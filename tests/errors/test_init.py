# SPDX-License-Identifier: MIT
"""The tree of errors is the one that is drawn, and errors cross the process border by name."""

import inspect
import pickle
import re
import signal

import pytest

from compiler_gym import errors
from compiler_gym.errors import (
    CacheWarning,
    CompilerGymError,
    SessionError,
    WorkerCrashedError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
    error_from_name,
    warning_from_name,
)

RAISED = [
    cls
    for cls in vars(errors).values()
    if inspect.isclass(cls) and issubclass(cls, (CompilerGymError, errors.CompilerGymWarning))
]


def drawn_parents() -> dict[str, str]:
    """Return the parent of each class as the module's docstring draws it."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"    ([│├└─ ]*)(\w+(?:Error|Died|Failed|Requests|Supported|Closed|Found"
                         r"|Warning))\b", line)  # fmt: skip
        if found:
            depth = len(found[1]) // 4
            above = [*above[:depth], found[2]]
            if depth:
                parents[found[2]] = above[depth - 1]
    return parents


def test_the_drawing_holds_every_class_at_its_place() -> None:
    parents = drawn_parents()
    roots = {"CompilerGymError", "CompilerGymWarning"}
    assert parents.keys() == {cls.__name__ for cls in RAISED} - roots
    assert all(cls.__bases__[0].__name__ == parents[cls.__name__]
               for cls in RAISED if cls.__name__ not in roots)  # fmt: skip


@pytest.mark.parametrize(
    "cls", [cls for cls in RAISED if issubclass(cls, CompilerGymError)], ids=lambda c: c.__name__
)
def test_an_error_crosses_the_border_by_its_name_and_can_be_pickled(cls: type) -> None:
    error = error_from_name(cls.__name__, "what happened")
    assert type(error) is cls
    assert str(error) == "what happened"
    assert error.reproducer is None
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (cls, "what happened")


@pytest.mark.parametrize("name", ["ZeroDivisionError", "CacheWarning", "_signal", "__doc__", ""])
def test_a_strange_error_is_one_of_the_session(name: str) -> None:
    error = error_from_name(name, "details")
    assert type(error) is SessionError
    assert str(error) == f"{name}: details"


def test_a_strange_warning_names_itself() -> None:
    assert type(warning_from_name("CacheWarning", "full")) is CacheWarning
    strange = warning_from_name("CacheError", "full")
    assert (type(strange), str(strange)) == (UserWarning, "CacheError: full")


def test_an_error_keeps_its_facts() -> None:
    crashed = WorkerCrashedError("it crashed", signal=signal.SIGSEGV)
    assert (crashed.signal_name, crashed.exit_status) == ("SIGSEGV", None)
    assert WorkerCrashedError("it left", exit_status=3).signal_name is None
    assert WorkerTimeoutError("late", seconds=2.5).seconds == 2.5
    assert WorkerOutOfMemoryError("full", limit_bytes=7).limit_bytes == 7


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("BenchmarkInitError", OSError),
        ("UnknownNameError", LookupError),
        ("ServiceIsClosed", TypeError),
        ("WorkerTimeoutError", TimeoutError),
        ("WorkerOutOfMemoryError", MemoryError),
    ],
)
def test_errors_keep_the_bases_that_users_catch(name: str, base: type) -> None:
    assert issubclass(getattr(errors, name), base)
