# SPDX-License-Identifier: MIT
"""Tasks as an Inspect evaluation. Needs the extra ``inspect-ai``.

    inspect eval compiler_gym/verified_gain -T split=test -T difficulty=easy --limit 20

A sample's decisions are kept in its store, so that ``inspect score`` can judge a log again.
"""

import asyncio
from typing import Any

from compiler_gym.cli.kit.library import library
from compiler_gym_agents import (
    AgentEpisode,
    Decisions,
    Tool,
    Verdict,
    find_task,
    judge,
    tasks,
)
from compiler_gym_agents.libraries._tools import list_tools

__all__ = ["episode", "make_scorer", "verified_gain"]

inspect: Any = library("inspect_ai", "inspect-ai")
dataset: Any = library("inspect_ai.dataset", "inspect-ai")
scoring: Any = library("inspect_ai.scorer", "inspect-ai")
solving: Any = library("inspect_ai.solver", "inspect-ai")
tooling: Any = library("inspect_ai.tool", "inspect-ai")

_DECISIONS = "compiler_gym:decisions"


@inspect.task
def verified_gain(split: str = "test", family: str = "", difficulty: str = "") -> Any:
    """Return the tasks of a split; an empty family or difficulty selects all."""
    selected = tasks(split, family or None, difficulty or None)
    samples = [
        dataset.Sample(
            id=task.id,
            input=task.prompt,
            metadata=task.dict(include=("split", "family", "difficulty", "benchmark")),
        )
        for task in selected
    ]
    return inspect.Task(dataset=samples, solver=episode(), scorer=make_scorer())


@solving.solver
def episode() -> Any:
    """Return a solver that lets the model call the tools of its task until it submits."""

    async def solve(state: Any, generate: Any) -> Any:
        playing = await asyncio.to_thread(AgentEpisode, find_task(str(state.sample_id)))
        try:
            state.tools = [_callable_tool(playing, tool) for tool in list_tools(playing)]
            for _ in range(playing.task.max_calls):
                state = await generate(state, tool_calls="single")
                state.store.set(_DECISIONS, playing.decisions.dict())
                if playing.done or not state.output.message.tool_calls:
                    break
        finally:
            await asyncio.to_thread(playing.close)
        return state

    return solve


@scoring.scorer(metrics=[scoring.mean(), scoring.stderr()], name="judged")  # as in logs
def make_scorer() -> Any:
    """Return a scorer with the judge's reward and reason."""

    async def score(state: Any, target: Any) -> Any:
        task = find_task(str(state.sample_id))
        decisions = state.store.get(_DECISIONS)
        if decisions is None:
            verdict = Verdict.refuse(task.id, "the episode did not finish")
        else:
            verdict = await asyncio.to_thread(judge, task, Decisions.parse_obj(decisions))
        return scoring.Score(
            value=verdict.reward, explanation=verdict.reason, metadata=verdict.dict()
        )

    return score


def _callable_tool(playing: AgentEpisode, tool: Tool) -> Any:
    async def execute(**arguments: Any) -> str:
        return await asyncio.to_thread(playing.call, tool.name, arguments)

    parameters = tooling.ToolParams.model_validate(tool.parameters)
    return tooling.ToolDef(execute, tool.name, tool.description, parameters).as_tool()
