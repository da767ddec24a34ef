# SPDX-License-Identifier: MIT
"""Calls are counted."""

from compiler_gym.testing import FakeEnv
from compiler_gym.wrappers import Counter


def test_every_kind_of_call_is_counted(env: FakeEnv) -> None:
    counted = Counter(env)
    assert counted.counters == {"close": 0, "reset": 0, "step": 0, "fork": 0}
    counted.reset()
    counted.step(0)
    counted.multistep([0, 1])
    with counted.fork() as fork:
        fork.step(0)
        assert fork.counters == {"close": 0, "reset": 1, "step": 4, "fork": 1}
    counted.close()
    assert counted.counters == {"close": 1, "reset": 1, "step": 3, "fork": 1}
