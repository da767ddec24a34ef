# SPDX-License-Identifier: MIT
"""Actor-critic without a second pass still learns on a small budget."""

from typing import Any

import pytest

from .conftest import load_agent

PROGRAM = "cbench-v1/crc32"


@pytest.fixture
def agent() -> Any:
    """Return the agent's file as a module; it is no part of the package."""
    pytest.importorskip("torch", reason="torch is missing")
    return load_agent("actor_critic")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_returns_end_where_an_episode_ends(agent: Any) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is missing")

    data = {
        "reward": torch.tensor([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]),
        "ended": torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
    }
    found = agent._returns(data, torch.tensor([8.0, 8.0]), 0.5)
    assert found.tolist() == [[4.0, 2.0], [6.0, 2.0], [8.0, 8.0]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_few_updates_run(agent: Any) -> None:
    arguments = ["--train", PROGRAM, "--steps", "16", "--envs", "2", "--episode", "3"]
    options = agent.parse([*arguments, "--horizon", "4", "--actions", "sroa", "gvn"])
    reports: list[dict[str, float]] = []
    network, finished = agent.train(options, reports.append)
    assert [report["steps"] for report in reports] == [8, 16]
    assert len(finished) == 4
    earned = agent.evaluate(network, options, [PROGRAM])
    assert list(earned) == [PROGRAM]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_actor_critic_learns_a_program(agent: Any) -> None:
    options = agent.Options(train=(PROGRAM,), steps=2000, episode=8, seed=1)
    network, finished = agent.train(options)
    assert sum(finished[-30:]) > sum(finished[:30])
    assert agent.evaluate(network, options, [PROGRAM])[PROGRAM] > 0.7
