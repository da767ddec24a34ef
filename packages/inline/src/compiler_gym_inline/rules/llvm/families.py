# SPDX-License-Identifier: MIT
"""The tasks about rules: an agent writes one on some programs, and is judged on others."""

from collections.abc import Iterator

from compiler_gym_agents import AgentTask

__all__ = ["agent_tasks"]

_SETS = "benchmark://rule-programs-v0"
_SPLITS = {"train": ("small", "practice"), "validation": ("train", "validation"),
           "test": ("train", "test")}  # fmt: skip
"""The set of programs that an agent works on, and the one it is judged on."""
_CALLS = {"easy": 40, "medium": 20, "hard": 10}
_MOST_ACTIONS = 64
_GOAL, _BASELINE = "LoadedBytes", "LoadedBytesPlain"
_PROMPT = f"""\
Write a rule that makes the linker save loaded bytes. It decides which calls are inlined (inline) \
and in which order (order), which functions have a frame pointer (frame), from which ones equal \
code may be taken (outline), and how their code is generated (choose). An action is a text such as \
`frame = calls > 2`, which replaces the rule for one decision. Measure `RuleInputs` for the \
language and the inputs, `RuleEffect` for the bytes of each program of `{{programs}}`, and \
`RuleProblem` if an action changed nothing. The behaviour of programs must not change. You are \
judged by {_GOAL} on other programs, those of `{{held_out}}`: you win if it is below {_BASELINE}, \
the result without a rule. You may call tools {{calls}} times and apply {_MOST_ACTIONS} actions."""


def agent_tasks() -> Iterator[AgentTask]:
    """Yield every task."""
    for split, (programs, held_out) in _SPLITS.items():
        for difficulty, calls in _CALLS.items():
            yield AgentTask(
                id=f"write-a-linker-rule/{held_out}-{difficulty}",
                split=split,
                family="write-a-linker-rule",
                difficulty=difficulty,
                env_id="llvm-rule-v0",
                benchmark=f"{_SETS}/{programs}",
                judged_on=f"{_SETS}/{held_out}",
                action_space="LinkerRules",
                goal=_GOAL,
                baseline=_BASELINE,
                prompt=_PROMPT.format(calls=calls, programs=programs, held_out=held_out),
                max_calls=calls,
                max_actions=_MOST_ACTIONS,
                checks=("run",),
            )
