# SPDX-License-Identifier: MIT
"""A profile whose numbers are known, and fake environments, closed at the end of a test."""

import pytest
from core.conftest import make_env

from compiler_gym.profiling import Layer, Profile, Span

__all__ = ["known", "make_env"]


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
