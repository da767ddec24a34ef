# SPDX-License-Identifier: MIT
"""Inspect evaluates a scripted model on tasks, and scores its log again."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from compiler_gym_agents import find_task

TASK = "fewer-instructions/cbench-v1/crc32"
BETTER = [
    "-O2",
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;"
    "no-keep-loops;hoist-common-insts;sink-common-insts>",
]
"""What saves an instruction more than -Oz on this program."""


def library(name: str) -> Any:
    pytest.importorskip("inspect_ai", reason="inspect-ai is missing: make integrations")
    return importlib.import_module(name)


def scripted(*calls: tuple[str, dict[str, Any]]) -> Any:
    """Return a model that makes these calls, one after the other, and then says so."""
    models = library("inspect_ai.model")
    outputs = [models.ModelOutput.for_tool_call("mockllm/model", *call) for call in calls]
    done = models.ModelOutput.from_content("mockllm/model", "I am done.")
    for output in (*outputs, done):
        output.usage = models.ModelUsage()  # otherwise its tokens are counted by what is fetched
    return models.get_model("mockllm/model", custom_outputs=[*outputs, done])


def evaluated(model: Any, folder: Path) -> Any:
    ours = importlib.import_module("compiler_gym_agents.libraries.inspect_ai")
    (log,) = library("inspect_ai").eval(
        ours.verified_gain(split=find_task(TASK).split, difficulty=find_task(TASK).difficulty),
        model=model, sample_id=TASK, log_dir=str(folder), display="none",
    )  # fmt: skip
    assert log.status == "success", log.error
    return log


@pytest.mark.slow
def test_applied_actions_are_judged_and_a_log_is_scored_again(tmp_path: Path) -> None:
    model = scripted(("apply", {"actions": BETTER}), ("submit", {}))
    log = evaluated(model, tmp_path)
    (sample,) = log.samples
    score = sample.scores["judged"]
    assert 0 < score.value < 0.1
    assert "IrInstructionCount is 263" in score.explanation
    assert score.metadata["valid"]
    assert len(sample.messages) == 5  # the prompt, and two calls with their answers
    ours = importlib.import_module("compiler_gym_agents.libraries.inspect_ai")
    again = library("inspect_ai").score(log, ours.make_scorer(), action="overwrite", display="none")
    assert again.samples[0].scores["judged"].value == score.value


@pytest.mark.slow
def test_a_model_that_calls_nonsense_and_stops_earns_nothing(tmp_path: Path) -> None:
    model = scripted(("launch_missiles", {}), ("apply", {"actions": ["no such pass"]}))
    (sample,) = evaluated(model, tmp_path).samples
    assert sample.scores["judged"].value == 0
    assert "no such pass" in sample.messages[4].text
