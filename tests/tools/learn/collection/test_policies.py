# SPDX-License-Identifier: MIT
"""A policy is found by its name, and a search's tries are episodes."""

from pathlib import Path

import pytest

from compiler_gym.errors import PolicyLoadError, UnknownNameError
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.collection.policies import policy_named, random_actions
from compiler_gym.tools.learn.collection.recorded import Recorded, Tape
from compiler_gym.tools.learn.leaderboard import Limit, Meter

from .test_recorded import Kept


def test_policies_are_found_by_name(tmp_path: Path) -> None:
    assert policy_named("random") is random_actions
    file = tmp_path / "mine.py"
    file.write_text("def policy(env): pass\n")
    assert policy_named(str(file)).__name__ == "policy"
    for name, match in (
        ("search:no", "no algorithm"),
        ("best", "choose random, search"),
        (str(tmp_path / "none.py"), "no file"),
    ):
        with pytest.raises(UnknownNameError, match=match):
            policy_named(name)
    file.write_text("import no_such_module")
    with pytest.raises(
        PolicyLoadError, match=r"cannot load the policy .*mine.py: ModuleNotFoundError"
    ):
        policy_named(str(file))


@pytest.mark.parametrize("algorithm", ["random", "greedy"])
def test_a_search_is_repeated_by_its_seed_and_kept_within_its_limit(algorithm: str) -> None:
    import random

    def played() -> list[list[int]]:
        kept = Kept()
        with FakeEnv(action_space="Safe", reward_space="number") as below:
            env = Recorded(below, ["number"], Tape(kept), Meter(Limit(compilations=40)))
            random.seed(4)
            env.reset(benchmark="fake-v0/7")
            policy_named(f"search:{algorithm}")(env, env.meter)
            env.episode_ended()
            assert 10 < env.meter.compilations <= 40
        return [[s.actions[0] for s in episode.steps] for _, episode in kept.episodes]

    first = played()
    assert len(first) > 2
    assert first == played()
