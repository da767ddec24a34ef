# SPDX-License-Identifier: MIT
"""A policy learns from rewards, and the table shows the spread of its seeds."""

import numpy as np

from benchmarks.agent_learning import STEPS, Policy, table


def test_actions_that_are_rewarded_become_more_probable() -> None:
    policy = Policy(np.zeros(5), np.random.default_rng(0))
    for _ in range(50):
        actions = policy.sample()
        policy.learn(actions, actions.count(3) / STEPS - 0.2)
    assert policy.chances.argmax() == 3
    assert policy.chances[3] > 0.5


def test_the_table_has_the_mean_and_the_extremes_of_the_seeds() -> None:
    lines = table({"one": [[0.0, 0.25], [0.5, 0.75]]}, 100).splitlines()
    assert lines[0] == "| episodes | 0 | 100 |"
    assert lines[2] == "| `one` | 0.250 [0.000, 0.500] | 0.500 [0.250, 0.750] |"
