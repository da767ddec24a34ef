# SPDX-License-Identifier: MIT
"""A graph network reads programs one by one as it reads them together, and learns."""

from typing import Any

import numpy as np
import pytest

from .conftest import load_agent

PROGRAM = "cbench-v1/crc32"
SOME = (
    *("sroa", "simplifycfg", "instcombine", "dce", "adce"),
    *("lcssa", "loop-simplify", "licm", "sink", "tailcallelim"),
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def agent() -> Any:
    """Return the agent's file as a module; it is no part of the package."""
    pytest.importorskip("torch", reason="torch is missing")
    return load_agent("reinforce_gnn")


def _graph(nodes: list[int], edges: list[tuple[int, int, int]]) -> dict[str, Any]:
    """Return an observation from the texts of nodes and (source, target, kind)."""
    columns = np.array(edges, np.int32).reshape(-1, 3)
    return {
        "node_kind": np.array([text % 4 for text in nodes], np.int32),
        "node_text": np.array(nodes, np.int32),
        "edge_source": columns[:, 0],
        "edge_target": columns[:, 1],
        "edge_kind": columns[:, 2],
        "edge_position": np.arange(len(edges), dtype=np.int32),
    }


def _policy(agent: Any) -> Any:
    torch: Any = pytest.importorskip("torch", reason="torch is missing")

    torch.manual_seed(0)
    return agent.GraphPolicy(10, 3, agent.Options(hidden=8))


def test_programs_are_read_alike_alone_and_together(agent: Any) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is missing")

    policy, device = _policy(agent), torch.device("cpu")
    graphs = [
        _graph([1, 2, 3], [(0, 1, 0), (1, 2, 1)]),
        _graph([4, 5], [(1, 0, 2)]),
        _graph([6], []),
    ]
    together = policy.read(agent.pack(graphs, device))
    alone = torch.cat([policy.read(agent.pack([graph], device)) for graph in graphs])
    torch.testing.assert_close(together, alone)


def test_the_edges_of_a_program_are_seen_with_their_kinds_and_directions(agent: Any) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is missing")

    policy, device = _policy(agent), torch.device("cpu")
    edges = [[], [(0, 1, 0)], [(1, 0, 0)], [(0, 1, 1)]]
    read = policy.read(agent.pack([_graph([1, 2], some) for some in edges], device))
    assert torch.cdist(read, read).add(torch.eye(4)).min() > 1e-3


def test_an_action_is_credited_against_the_other_episodes(agent: Any) -> None:
    def episode(*rewards: float) -> list[Any]:
        return [agent.Step({}, 1.0, None, 0, reward) for reward in rewards]

    found = agent.gains([episode(1.0, 2.0), episode(0.0, 4.0), episode(2.0)], 1.0)
    assert found == pytest.approx([0.0, 0.0, 1.5, 3.0, -1.5])


def test_a_batch_of_one_has_nothing_to_compare_with(agent: Any) -> None:
    with pytest.raises(ValueError, match="batch is 1: expected at least 2"):
        agent.Options(batch=1)


def test_a_few_updates_run(agent: Any) -> None:
    arguments = ["--updates", "2", "--batch", "2", "--episode", "2", "--hidden", "8"]
    options = agent.parse([*arguments, "--actions", "sroa", "gvn"])
    assert options.train == (PROGRAM,)
    reports: list[dict[str, Any]] = []
    policy, history = agent.train(options, reports.append)
    assert [report["episode_reward"] for report in reports] == history
    assert len(history) == 2
    assert list(agent.evaluate(policy, options, [PROGRAM])) == [PROGRAM]


@pytest.mark.slow
def test_reinforce_learns_a_program(agent: Any) -> None:
    options = agent.Options(actions=SOME, updates=40, batch=6, episode=6, seed=1)
    policy, history = agent.train(options)
    assert sum(history[-8:]) > 1.2 * sum(history[:8])
    assert agent.evaluate(policy, options, [PROGRAM])[PROGRAM] > 0.8
