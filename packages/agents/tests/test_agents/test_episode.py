# SPDX-License-Identifier: MIT
"""An episode bounds an agent's calls, writes them down, and gives the judge its decisions alone."""

import json
from pathlib import Path

import pytest

from compiler_gym_agents import AgentEpisode, AgentTask, Decisions, Verdict, find_task

TASK = find_task("fewer-instructions/cbench-v1/crc32").copy(
    update={"max_calls": 5, "max_actions": 4}
)


def judged(task: AgentTask, decisions: Decisions) -> Verdict:
    """Return a verdict that is easy to know."""
    return Verdict(task.id, float(len(decisions.commandline)), valid=True, reason="long")


def test_an_episode_ends_with_the_submission(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with AgentEpisode(TASK, trace=trace, judge=judged) as episode:
        assert episode.prompt == TASK.prompt
        assert "submit" in [tool.name for tool in episode.tools]
        assert json.loads(episode.call("apply", {"actions": ["sroa"]}))["calls_left"] == 4
        assert "(3 calls left)" in episode.call("show", {"function": "main"})
        assert "(2 calls left)" in episode.call("no_such_tool")
        assert not episode.done
        assert episode.decisions == Decisions(TASK.id, episode.decisions.commandline)
        assert "submitted" in episode.call("submit", {"answer": "7"})
        assert episode.done
        assert episode.decisions.answer == "7"
        assert "sroa" in episode.decisions.commandline
        assert "the episode is over" in episode.call("reset")
        assert episode.calls_left == 1
        assert episode.reward() == len(episode.decisions.commandline) == episode.verdict().reward
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert lines[0]["task"] == TASK.id
    assert [line.get("tool") for line in lines[1:-1]] == ["apply", "show", "no_such_tool", "submit"]
    assert lines[1]["arguments"] == {"actions": ["sroa"]}
    assert [line.get("error") for line in lines[1:-1]] == [False, False, True, False]
    assert lines[-1]["decisions"]["answer"] == "7"
    assert lines[-1]["verdict"]["reason"] == "long"


def test_calls_and_actions_are_bounded(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with AgentEpisode(TASK, trace=trace, judge=judged) as episode:
        assert "at most 4 more" in episode.call("apply", {"actions": ["dce"] * 5})
        episode.call("apply", {"actions": ["sroa"] * 3})
        assert "at most 1 more actions are allowed, 4 in total" in episode.call(
            "apply", {"actions": ["dce", "dce"]}
        )
        nested: dict[str, object] = {}
        for _ in range(100_000):
            nested = {"actions": nested}
        assert episode.call("apply", nested).startswith("error (")
        assert not episode.done
        episode.call("describe")
        assert episode.done
        assert episode.decisions.commandline.count("sroa") == 3
    assert trace.stat().st_size < 100_000


def test_the_reward_of_the_tools_is_that_of_the_task() -> None:
    with AgentEpisode(TASK, judge=judged) as episode:
        described = json.loads(episode.call("describe"))
        assert described["reward"].startswith(TASK.baseline)
        assert TASK.goal in described["costs"]
    assert episode.decisions == Decisions(TASK.id)
    assert episode.reward() == 0


@pytest.mark.slow
def test_the_judge_agrees_with_what_the_agent_saw() -> None:
    task = find_task(TASK.id)
    with AgentEpisode(task) as episode:
        episode.call("apply", {"actions": ["-Oz", "-Oz"]})
        seen = json.loads(episode.call("measure"))["costs"]["IrInstructionCount"]["now"]
        episode.call("submit")
        assert episode.verdict().measured == seen
        assert episode.verdict().valid
