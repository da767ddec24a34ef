# SPDX-License-Identifier: MIT
"""What agents without a model win on the test tasks, as the judge measures it.

    python -m benchmarks.agent_baselines --each 5      judge; write the table of the results page

Nothing, the compiler's own -Oz, random actions, our search with as many actions as an agent has
calls, a script that tries actions one at a time with the agent's own tools, and a mutant of its
decisions, which must be worth less. Of each family some test tasks are drawn, always the same ones.
What is judged is kept, and not judged again.
"""

import argparse
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import compiler_gym
from benchmarks.tables import write_table
from compiler_gym.errors import CompilerGymError
from compiler_gym.files import append_line, read_regular
from compiler_gym.files.paths import cache_path
from compiler_gym.search import Budget, level_sequences, run_search
from compiler_gym.spaces import action_names
from compiler_gym_agents import (
    AgentEpisode,
    AgentTask,
    Decisions,
    Judge,
    Question,
    Verdict,
    score,
    tasks,
)
from compiler_gym_inline.rules import Trial, search_rules
from compiler_gym_inline.rules.llvm.evolution import Evolution

PAGE = Path(__file__).parents[1] / "docs" / "results" / "agents.md"
LEVEL, REST = "-Oz", "rest"
RULES = 100
"""The number of rules among which agents choose that do not write their own."""


def nothing(task: AgentTask) -> Decisions:
    """Leave the program as it is."""
    return Decisions(task.id)


def level(task: AgentTask) -> Decisions:
    """Take what clang would do, where the compiler has that."""
    with _environment_of(task) as env:
        names = _list_names(env)
        chosen = [name for name in (LEVEL, REST) if name in names][:1]
        return _play(env, task, chosen)


def at_random(task: AgentTask) -> Decisions:
    """Apply as many random actions as the agent has calls; guess where there is a question."""
    drawn = random.Random(task.id)
    if task.question is not None:
        return Decisions(task.id, answer=str(drawn.randint(1, len(task.given))))
    with _environment_of(task) as env:
        return _play(env, task, drawn.choices(_list_names(env), k=task.max_calls))


def search(task: AgentTask) -> Decisions:
    """Search with as many actions as the agent has calls, from the levels where there are some."""
    if task.question is not None:
        return nothing(task)
    with _environment_of(task) as env:
        if not action_names(env.action_space):
            trials = search_rules(env, Evolution(), trials=task.max_calls)
            return _play(env, task, [max(trials, key=lambda trial: trial.saved).rule])
        starts = level_sequences(action_names(env.action_space))
    (found,) = run_search(
        lambda: _environment_of(task),
        [task.benchmark],
        budget=Budget(steps=task.max_calls),
        jobs=1,
        seed=0,
        starts=starts,
    )
    return Decisions(task.id, found.commandline)


def script(task: AgentTask) -> Decisions:
    """Use the agent's tools: try actions one at a time, and keep those that are better."""
    with AgentEpisode(task) as episode:
        if task.question is not None:
            return Decisions(task.id, answer=str(_answer(episode, task)))
        with _environment_of(task) as env:
            names = _list_names(env)
        random.Random(task.id).shuffle(names)
        if LEVEL in names:
            episode.call("apply", {"actions": [LEVEL]})
        while episode.calls_left > 2 and names:
            name = names.pop()
            tried = _said(episode.call("try_actions", {"actions": [name]}))
            if (tried.get("reward") or 0.0) > 0:
                episode.call("apply", {"actions": [name]})
        if REST in names:
            episode.call("apply", {"actions": [REST]})
        return episode.decisions


def mutant(task: AgentTask) -> Decisions:
    """Take the script's decisions without the first action, or the answer after its answer."""
    decisions = script(task)
    if task.question is not None:
        return Decisions(task.id, answer=str(int(decisions.answer) % len(task.given) + 1))
    with _environment_of(task) as env:
        env.reset()
        actions = env.commandline_to_actions(decisions.commandline)
        names = action_names(env.action_space)
        if not names:
            return _play(env, task, decisions.commandline.split("\n")[1:])
        return _play(env, task, [names[int(action)] for action in actions[1:]])


AGENTS: Mapping[str, Callable[[AgentTask], Decisions]] = {
    "nothing": nothing, "-Oz": level, "random": at_random, "search": search, "script": script,
    "mutant": mutant,
}  # fmt: skip


def _answer(episode: AgentEpisode, task: AgentTask) -> int:
    """Return the answer: by halving where a trace differs, else the largest step that was seen."""
    if task.question is Question.FIRST_DIFFERENCE:
        low, high = 0, len(task.given)
        while high - low > 1 and episode.calls_left > 2:
            middle = (low + high) // 2
            episode.call("reset")
            costs = _said(episode.call("apply", {"actions": list(task.given[:middle])}))
            same = costs.get("costs", {}).get(task.goal) == task.trace[middle - 1]
            low, high = (middle, high) if same else (low, middle)
        return high
    added: list[float] = []
    for name in task.given[: episode.calls_left - 1]:
        said = _said(episode.call("apply", {"actions": [name]}))
        goals = [said.get(when, {}).get(task.goal, 0) for when in ("before", "costs")]
        added.append(goals[1] - goals[0])
    return added.index(max(added)) + 1


def _said(answer: str) -> dict[str, Any]:
    try:
        return json.loads(answer)
    except ValueError:
        return {}


def _environment_of(task: AgentTask) -> Any:
    env = compiler_gym.make(task.env_id, benchmark=task.benchmark, action_space=task.action_space)
    for name in (task.goal, task.baseline):
        if name in env.reward:
            env.reward_space = name
    return env


def _list_names(env: Any) -> list[str]:
    """Return the names of the actions, or rules where an action is a rule."""
    if names := list(action_names(env.action_space)):
        return names
    rules: list[Trial] = []
    while len(rules) < RULES:
        rules.append(Trial(Evolution()(rules), 0.0))
    return [trial.rule for trial in rules]


def _play(env: Any, task: AgentTask, names: Sequence[str]) -> Decisions:
    """Return actions as decisions, as far as the compiler takes them."""
    env.reset()
    actions = env.action_space
    for name in names:
        _, _, terminated, truncated, _ = env.step(actions[name] if action_names(actions) else name)
        if terminated or truncated:
            break
    return Decisions(task.id, env.commandline() if env.actions else "")


def chosen_tasks(each: int) -> list[AgentTask]:
    """Return `each` test tasks of every family, the same ones every time."""
    families = dict.fromkeys(task.family for task in tasks("test"))
    found: list[AgentTask] = []
    for family in families:
        whole = list(tasks("test", family))
        random.Random(family).shuffle(whole)
        found += whole[:each]
    return found


def table(verdicts: Mapping[str, Sequence[Verdict]], chosen: Sequence[AgentTask]) -> str:
    """Return the mean reward of each agent by family, and of all."""
    lines = [f"| tasks | n | {' | '.join(verdicts)} |", "|---|--:|" + "--:|" * len(verdicts)]
    for family in dict.fromkeys(task.family for task in chosen):
        members = [task for task in chosen if task.family == family]
        known = {task.id for task in members}
        rewards = [
            score([v for v in each if v.task in known], members).reward
            for each in verdicts.values()
        ]
        cells = " | ".join(f"{reward:.3f}" for reward in rewards)
        lines.append(f"| `{family}` | {len(members)} | {cells} |")
    valid = [mean(v.valid for v in each) for each in verdicts.values()]
    lines.append(f"| valid, of all | {len(chosen)} | {' | '.join(f'{v:.0%}' for v in valid)} |")
    return "\n".join(lines)


def main() -> None:
    """Judge what the command line says, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agent_baselines")
    parser.add_argument("--each", type=int, default=5, help="test tasks of each family")
    options = parser.parse_args()
    kept = cache_path("benchmarks/agent-baselines.jsonl")
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = read_regular(kept).decode().splitlines() if kept.is_file() else []
    known = {(one["agent"], one["task"]): one for one in map(json.loads, lines)}
    chosen = chosen_tasks(options.each)
    verdicts: dict[str, list[Verdict]] = {name: [] for name in AGENTS}
    with Judge() as judge:
        for task in chosen:
            for name, agent in AGENTS.items():
                fields: dict[str, Any] | None = known.get((name, task.id))
                if fields is None:
                    try:
                        verdict = judge(task, agent(task))
                    except CompilerGymError as error:
                        verdict = Verdict.refuse(task.id, f"{type(error).__name__}: {error}")
                    fields = {"agent": name, **verdict.dict()}
                    append_line(kept, fields, sync=False)
                    print(name, task.id, f"{verdict.reward:.3f}", verdict.reason[:80], flush=True)
                said = {key: value for key, value in fields.items() if key != "agent"}
                verdicts[name].append(Verdict(**said))
    write_table("agent-baselines", table(verdicts, chosen), PAGE)


if __name__ == "__main__":
    main()
