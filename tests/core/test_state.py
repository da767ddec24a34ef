# SPDX-License-Identifier: MIT
"""An episode is known by what replays it."""

import json
from dataclasses import replace

from compiler_gym import CompilerEnvState
from core.test_state_files import STATES


def test_states_are_one_if_they_are_the_same_point_of_the_search() -> None:
    state = STATES[0]
    assert state == replace(state, walltime=9.0, version="2") == replace(state, reward=0.250004)
    assert len({state, replace(state, walltime=9.0)}) == 1
    for other in ({"reward": 0.2501}, {"reward": None}, {"commandline": ""}, {"benchmark": "a/b"}):
        assert state != replace(state, **other)
    assert state != 5
    assert CompilerEnvState(**json.loads(STATES[1].json())).dict() == STATES[1].dict()
