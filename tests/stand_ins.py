# SPDX-License-Identifier: MIT
"""Typed stand-ins: pytest takes any object, and the parameters of a lambda there have no types."""

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import pytest

T = TypeVar("T")
Fixed = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]


def always(answer: T) -> Callable[..., T]:
    """Return a function that answers `answer`, whatever it is asked."""
    return lambda *_, **__: answer


def never(message: str) -> Callable[..., NoReturn]:
    """Return a function that fails the test when it is called."""

    def fail(*_: object, **__: object) -> NoReturn:
        pytest.fail(message)

    return fail


def stand_in(function: Fixed) -> Callable[..., Any]:
    """Return a lambda of one to three parameters, each of which may be anything."""
    return function
