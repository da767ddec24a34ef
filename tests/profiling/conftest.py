# SPDX-License-Identifier: MIT
"""A profile whose numbers are known, and fake environments, closed at the end of a test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from compiler_gym.profiling import Layer, Profile, Span
from compiler_gym.testing import FakeEnv


@pytest.fixture
def known() -> Profile:
    """Return a reset of 40 ns and a step of 100 ns; 10 ns are nobody's."""
    analysis = Span(Layer.ANALYSES, "dominators", 15, calls=3)
    inner = Span(Layer.PASSES, "fold;all", 30, calls=2, parts=(analysis,))
    outer = Span(Layer.PASSES, "manager", 35, parts=(inner,))
    action = Span(Layer.ACTIONS, "fold", 50, began=55, parts=(outer,))
    seen = Span(Layer.OBSERVATIONS, "size", 20, began=110)
    worker = Span(Layer.WORKER, "worker", 75, parts=(action, seen))
    request = Span(Layer.TRANSPORT, "request", 90, began=52, parts=(worker,))
    step = Span(Layer.PYTHON, "step fold", 100, began=50, parts=(request,))
    reset = Span(Layer.PYTHON, "reset", 40, began=0, parts=(Span(Layer.OBSERVATIONS, "size", 5),))
    return Profile("benchmark://x-v0/1", ("fold",), 150, (reset, step))


@pytest.fixture(params=["process", "in-process"])
def make_env(request: pytest.FixtureRequest) -> Iterator[Callable[..., FakeEnv]]:
    """Make fake environments, in both isolations."""
    made: list[FakeEnv] = []

    def make(**arguments: Any) -> FakeEnv:
        made.append(FakeEnv(**{"isolation": request.param, **arguments}))
        return made[-1]

    yield make
    for env in made:
        env.close()
