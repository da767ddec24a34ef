# SPDX-License-Identifier: MIT
"""What an action chooses is listed where actions have no names."""

import copy
import pickle

from compiler_gym.spaces import ActionPart, MultiDiscrete, action_parts

PARTS = (ActionPart("level", "0, 1, 2", "How much"), ActionPart("loud", "no, yes", ""))


def test_a_space_keeps_its_parts_through_copies() -> None:
    space = MultiDiscrete([3, 2], "settings", parts=PARTS)
    assert action_parts(space) == PARTS
    for twin in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert action_parts(twin) == PARTS
        assert twin == space


def test_others_have_none() -> None:
    assert action_parts(MultiDiscrete([3, 2], "settings")) == ()
