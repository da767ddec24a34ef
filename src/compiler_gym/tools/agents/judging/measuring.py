# SPDX-License-Identifier: MIT
"""Measures what decisions are worth. Runs in the judge's process alone.

Nothing that an agent says is believed but its actions and its answer: the task is taken from the
catalogue, the program from its dataset, and the baseline is measured here.
"""

import inspect
import math
import warnings
from collections.abc import Sequence
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import (
    CompilerGymError,
    InvalidActionError,
    InvalidParameterError,
    UnknownNameError,
)
from compiler_gym.registration import make
from compiler_gym.tools.agents.catalogue import find_task
from compiler_gym.tools.agents.task import AgentTask, Decisions, Question, Verdict
from compiler_gym.validation import ValidationResult
from compiler_gym.validation import Verdict as Check

__all__ = ["finite_cost", "make_verdict", "measure", "right_answers"]

_UNSURE = 1e-9
"""Logarithms of ratios that are nearer to 0 are none: rounding."""
_MOST_WORDS = 500
_MOST_DIGITS = 9


def measure(task: AgentTask, decisions: Decisions) -> Verdict:
    """Return what `decisions` are worth for `task`: nothing, and why, where they are not valid.

    Raises the error of a machine on which the task cannot be begun: that is no agent's doing.
    """
    if (refusal := _why_not_judged(task, decisions)) is not None:
        return Verdict.refuse(task.id, refusal)
    with warnings.catch_warnings(), make(task.env_id) as env:
        warnings.simplefilter("ignore")
        env.reset(benchmark=task.benchmark, action_space=task.action_space)
        baseline = _observe_cost(env, task.baseline)
        try:
            if task.question is not None:
                return _judge_answer(env, task, decisions.answer)
            return _judge_program(env, task, baseline, decisions.commandline)
        except (CompilerGymError, ValueError, OverflowError, RecursionError) as error:
            return Verdict.refuse(task.id, f"{type(error).__name__}: {error}")


def _why_not_judged(task: AgentTask, decisions: Decisions) -> str | None:
    try:
        known = find_task(task.id)
    except UnknownNameError as error:
        return str(error)
    if known != task:
        return f"the task {task.id} was changed: expected the catalogue's"
    if decisions.task != task.id:
        return f"the decisions are for {decisions.task!r:.80}: expected {task.id}"
    return None


def _judge_program(env: CompilerEnv, task: AgentTask, baseline: float, commandline: str) -> Verdict:
    """Return how much better than the baseline the program is that the actions lead to."""
    actions = env.commandline_to_actions(commandline) if commandline else []
    _require_actions(env, task, actions)
    _apply_all(env, actions)
    measured = _observe_cost(env, task.goal)
    takes_rungs = "rungs" in inspect.signature(env.unwrapped.validate).parameters  # type: ignore[attr-defined]  # ours has it
    options: dict[str, Any] = {"rungs": task.checks} if takes_rungs else {}
    return make_verdict(task, baseline, measured, env.validate(env.state, **options))


def make_verdict(
    task: AgentTask, baseline: float, measured: float, validated: ValidationResult
) -> Verdict:
    """Return what a program is worth that costs `measured` and was `validated`."""
    gain = math.log(measured / baseline if task.more_is_better else baseline / measured)
    wrong = _why_not_valid(task, validated)
    return Verdict(
        task.id,
        reward=gain if gain > _UNSURE and not wrong else 0.0,
        valid=not wrong,
        reason=(wrong or f"{task.goal} is {measured:g}, {task.baseline} {baseline:g}")[
            :_MOST_WORDS
        ],
        gain=gain,
        baseline=baseline,
        measured=measured,
        checks=_list_passed(validated),
    )


def _why_not_valid(task: AgentTask, validated: ValidationResult) -> str:
    """Return what is wrong; nothing where every check of the task was passed.

    One that cannot tell is not passed: a program that makes it so earns nothing.
    """
    needed = {"replay", *task.checks}
    for rung in validated.rungs:
        if rung.verdict is Check.FAILED or (rung.verdict is Check.UNKNOWN and rung.name in needed):
            why = "; ".join(map(str, rung.errors)) or rung.reason
            return f"the check {rung.name} is {rung.verdict.value}: {why}"
    missing = ", ".join(sorted(needed - set(_list_passed(validated))))
    return f"not checked: {missing}" if missing else ""


def _list_passed(validated: ValidationResult) -> tuple[str, ...]:
    return tuple(rung.name for rung in validated.rungs if rung.verdict is Check.OK)


def _observe_cost(env: CompilerEnv, name: str) -> float:
    return finite_cost(name, float(env.observation[name]))


def finite_cost(name: str, cost: float) -> float:
    """Return `cost`; raise `InvalidParameterError` unless its logarithm is a number."""
    if not 0 < cost < math.inf:
        raise InvalidParameterError(f"{name} is {cost}: expected a finite number above 0")
    return cost


def _require_actions(env: CompilerEnv, task: AgentTask, actions: Sequence[Any]) -> None:
    if len(actions) > task.max_actions:
        raise InvalidActionError(
            f"{len(actions)} actions: expected at most {task.max_actions} for {task.id}"
        )
    for action in actions:
        if not env.action_space.contains(action):
            raise InvalidActionError(f"{action!r:.80} is no action of {task.action_space}")


def _apply_all(env: CompilerEnv, actions: Sequence[Any]) -> None:
    if not actions:
        return
    _, _, _, truncated, info = env.multistep(list(actions))
    if truncated or "error" in info:
        raise InvalidActionError(f"the compiler fails: {info.get('error_details', 'no details')}")


def _judge_answer(env: CompilerEnv, task: AgentTask, answer: str) -> Verdict:
    text = answer.strip()
    if not (text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS):
        return Verdict.refuse(
            task.id, f"the answer is {answer!r:.80}: expected a number from 1 to {len(task.given)}"
        )
    is_right = int(text) in right_answers(env, task)
    told = f"the answer {int(text)} is {'right' if is_right else 'wrong'}"
    return Verdict(task.id, float(is_right), valid=True, reason=told, gain=float(is_right))


def right_answers(env: CompilerEnv, task: AgentTask) -> set[int]:
    """Return the answers to a task's question, found out by applying what it asks about."""
    costs = [_observe_cost(env, task.goal)]
    for name in task.given:
        _apply_all(env, [env.action_space[name]])
        costs.append(_observe_cost(env, task.goal))
    steps = range(1, len(costs))
    if task.question is Question.FIRST_DIFFERENCE:
        return set([at for at in steps if costs[at] != task.trace[at - 1]][:1])
    increases = {at: costs[at] - costs[at - 1] for at in steps}
    most = max(increases.values())
    return {at for at, increase in increases.items() if increase == most and most > 0}
