# SPDX-License-Identifier: MIT
"""A copy of a space has numbers of its own, and shares what its values are called."""

import copy

import numpy as np

from compiler_gym.spaces import Commandline, CommandlineFlag, NamedDiscrete
from compiler_gym.spaces.rewards import CostReward


def flags(seed: int | None = None) -> Commandline:
    return Commandline(
        [CommandlineFlag(name, f"-{name}", "") for name in ("a", "b", "c", "d")], "flags", seed=seed
    )


def test_a_copy_samples_as_its_origin_would_and_by_itself() -> None:
    for space in (flags(seed=4), NamedDiscrete(["a", "b", "c", "d"], "names", seed=4)):
        twin, other = copy.deepcopy(space), copy.deepcopy(space)
        expected = [int(space.sample()) for _ in range(20)]
        assert [int(twin.sample()) for _ in range(20)] == expected
        assert [int(other.sample()) for _ in range(20)] == expected


def test_a_copy_shares_its_names_and_nothing_that_is_added() -> None:
    space = flags()
    space.sets = (0, 0, 1, 1)
    space.notes = {"a": [1]}  # type: ignore[attr-defined]  # a plug-in's own
    twin = copy.deepcopy(space)
    assert twin == space
    assert twin.names is space.names
    assert (twin.sets, twin.to_string([1, 2]), twin["c"]) == ((0, 0, 1, 1), "-b -c", 2)
    twin.notes["a"].append(2)  # type: ignore[attr-defined]  # as above
    assert space.notes == {"a": [1]}  # type: ignore[attr-defined]  # as above


def test_a_space_in_two_places_is_in_two_places_of_the_copy() -> None:
    space = flags(seed=1)
    built, in_use = copy.deepcopy(({"flags": space}, space))
    assert built["flags"] is in_use is not space


def test_a_reward_goes_on_with_its_own_numbers() -> None:
    reward = CostReward(
        "size", cost="count", initial="initial", platform_dependent=False, levels={"-O3": "o3"}
    )
    reward.start([np.int64(50)], {})
    twin = copy.deepcopy(reward)
    assert twin.update([], [40], {}) == 10.0
    assert reward.update([], [45], {}) == 5.0
    twin.levels["-Oz"] = "oz"
    twin.observation_spaces.append("more")
    assert (reward.levels, reward.observation_spaces) == ({"-O3": "o3"}, ["count"])
