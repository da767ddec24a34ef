# SPDX-License-Identifier: MIT
"""Measure the value of decisions. Runs only in the judge's process.

Only the agent's actions and answer are used: the task comes from the catalogue, the program from
its dataset, and the baseline is measured here.
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
from compiler_gym.validation import ValidationResult
from compiler_gym.validation import Verdict as Check
from compiler_gym_agents.catalogue import find_task
from compiler_gym_agents.task import AgentTask, Decisions, Question, Verdict

__all__ = ["finite_cost", "make_verdict", "measure", "right_answers"]

_UNSURE = 1e-9
"""Gains (logarithms of ratios) up to this size count as 0, because of rounding."""
_MOST_WORDS = 500
_MOST_DIGITS = 9


def measure(task: AgentTask, decisions: Decisions) -> Verdict:
    """Return the verdict on `decisions` for `task`; invalid ones have reward 0 and a reason.

    Raises an error if the task cannot start on this machine, which is not the agent's fault.
    """
    if (refusal := _why_not_judged(task, decisions)) is not None:
        return Verdict.refuse(task.id, refusal)
    with warnings.catch_warnings(), make(task.env_id) as env:
        warnings.simplefilter("ignore")
        program = task.judged_on or task.benchmark
        env.reset(benchmark=program, action_space=task.action_space)
        baseline = _observe_cost(env, task.baseline)
        try:
            if task.question is not None:
                return _judge_answer(env, task, decisions.answer)
            return _judge_program(env, task, baseline, decisions.commandline)
        except (CompilerGymError, ValueError, OverflowError, RecursionError) as error:
            return Verdict.refuse(task.id, f"{type(error).__name__}: {error}")


def _why_not_judged(task: AgentTask, decisions: Decisions) -> str | None:
    try:
        expected = find_task(task.id)
    except UnknownNameError as error:
        return str(error)
    if expected != task:
        return f"the task {task.id} differs from the one in the catalogue"
    if decisions.task != task.id:
        return f"the decisions are for {decisions.task!r:.80}, not for {task.id}"
    return None


def _judge_program(env: CompilerEnv, task: AgentTask, baseline: float, commandline: str) -> Verdict:
    """Return the verdict on the program that the actions produce, against the baseline."""
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
    """Return the verdict on a program with the cost `measured` and its validation."""
    gain = math.log(measured / baseline if task.more_is_better else baseline / measured)
    failure = _why_not_valid(task, validated)
    return Verdict(
        task.id,
        reward=gain if gain > _UNSURE and not failure else 0.0,
        valid=not failure,
        reason=(failure or f"{task.goal} is {measured:g}, {task.baseline} {baseline:g}")[
            :_MOST_WORDS
        ],
        gain=gain,
        baseline=baseline,
        measured=measured,
        checks=_list_passed(validated),
    )


def _why_not_valid(task: AgentTask, validated: ValidationResult) -> str:
    """Return the first failure; empty if the program passed every check of the task.

    An inconclusive check counts as failed, so that a program cannot gain by provoking one.
    """
    needed = {"replay", *task.checks}
    for rung in validated.rungs:
        if rung.verdict is Check.FAILED or (rung.verdict is Check.UNKNOWN and rung.name in needed):
            details = "; ".join(map(str, rung.errors)) or rung.reason
            return f"the check {rung.name} is {rung.verdict.value}: {details}"
    missing = ", ".join(sorted(needed - set(_list_passed(validated))))
    return f"not checked: {missing}" if missing else ""


def _list_passed(validated: ValidationResult) -> tuple[str, ...]:
    return tuple(rung.name for rung in validated.rungs if rung.verdict is Check.OK)


def _observe_cost(env: CompilerEnv, name: str) -> float:
    return finite_cost(name, float(env.observation[name]))


def finite_cost(name: str, cost: float) -> float:
    """Return `cost`; raise `InvalidParameterError` unless its logarithm is a number."""
    if not 0 < cost < math.inf:
        raise InvalidParameterError(f"{name} must be a finite number above 0 (got {cost})")
    return cost


def _require_actions(env: CompilerEnv, task: AgentTask, actions: Sequence[Any]) -> None:
    if len(actions) > task.max_actions:
        raise InvalidActionError(
            f"{task.id} allows at most {task.max_actions} actions (got {len(actions)})"
        )
    for action in actions:
        if not env.action_space.contains(action):
            raise InvalidActionError(f"{action!r:.80} is not an action of {task.action_space}")


def _apply_all(env: CompilerEnv, actions: Sequence[Any]) -> None:
    if not actions:
        return
    _, _, _, truncated, info = env.multistep(list(actions))
    if truncated or "error" in info:
        raise InvalidActionError(f"the compiler failed: {info.get('error_details', 'no details')}")


def _judge_answer(env: CompilerEnv, task: AgentTask, answer: str) -> Verdict:
    text = answer.strip()
    if not (text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS):
        return Verdict.refuse(
            task.id, f"the answer must be a number from 1 to {len(task.given)} (got {answer!r:.80})"
        )
    is_right = int(text) in right_answers(env, task)
    reason = f"the answer {int(text)} is {'right' if is_right else 'wrong'}"
    return Verdict(task.id, float(is_right), valid=True, reason=reason, gain=float(is_right))


def right_answers(env: CompilerEnv, task: AgentTask) -> set[int]:
    """Return the correct answers to a task's question, by applying its actions."""
    costs = [_observe_cost(env, task.goal)]
    for name in task.given:
        _apply_all(env, [env.action_space[name]])
        costs.append(_observe_cost(env, task.goal))
    steps = range(1, len(costs))
    if task.question is Question.FIRST_DIFFERENCE:
        return set([step for step in steps if costs[step] != task.trace[step - 1]][:1])
    increases = {step: costs[step] - costs[step - 1] for step in steps}
    most = max(increases.values())
    return {step for step, increase in increases.items() if increase == most and most > 0}
