# SPDX-License-Identifier: MIT
"""Tasks are judged on programs that the agent does not get: an oracle, nothing, and mutants."""

from dataclasses import replace

import pytest

from compiler_gym_agents import AgentEpisode, AgentTask, Decisions, find_task
from compiler_gym_agents.judging import measuring

ORACLE = "frame = default or constant_arguments > 4\nchoose = is_frame - 2 * (calls < 3)"


def test_an_episode_is_about_the_programs_to_work_on() -> None:
    task = find_task("write-a-linker-rule/practice-easy")
    with AgentEpisode(task) as episode:
        answer = episode.call("apply", {"actions": ["frame = calls > 2"]})
        assert "LoadedBytes" in answer
        assert "adpcm" not in episode.call("measure", {"names": ["RuleEffect"]})
        assert "CALL_INPUTS" in episode.call("measure", {"names": ["RuleInputs"]})
        assert episode.decisions.commandline == "frame = calls > 2"


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("", "LoadedBytes is"),
        ("inline = 0", "LoadedBytes is"),
        ("inline = loops", "LoadedBytes is"),
    ],
)
def test_no_rule_a_bad_rule_and_a_mistake_earn_nothing(
    rule: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged on one program, in this process, to be fast."""
    task = replace(
        find_task("write-a-linker-rule/practice-easy"), judged_on="rule-programs-v0/crc32"
    )

    def find(id: str) -> AgentTask:
        assert id == task.id
        return task

    monkeypatch.setattr(measuring, "find_task", find)
    verdict = measuring.measure(task, Decisions(task.id, rule))
    assert verdict.valid
    assert verdict.reward == 0
    assert verdict.reason.startswith(reason)
