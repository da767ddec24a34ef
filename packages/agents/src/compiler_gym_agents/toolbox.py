# SPDX-License-Identifier: MIT
"""A compiler as tools for a language model: inspect a program, change it, undo and submit.

The tools depend only on the features of the environment, not on a particular compiler.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import gymnasium

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import BenchmarkUri
from compiler_gym.errors import (
    InvalidParameterError,
    SessionNotFound,
    UnknownNameError,
    unknown_name,
)
from compiler_gym.registration import make, recommend_reward
from compiler_gym.spaces import (
    action_descriptions,
    action_flags,
    action_name,
    action_names,
    action_parts,
    close_names,
    read_action,
    space_name,
    to_plain,
)
from compiler_gym_agents.calling import Tool
from compiler_gym_agents.calls import Calls
from compiler_gym_agents.texts import as_json, cut, difference, make_page
from compiler_gym_agents.views import Views, every_cost, measure_costs
from compiler_gym_agents.workbench import Workbench

__all__ = ["Toolbox"]

_LONGEST_ANSWER = 8_000
_LEAST_ANSWER = 1_000
_MOST_ACTIONS = 1_000
_MARGIN = 400
"""The number of characters reserved for the text around a page."""
_MOST_LISTED = 30
_MOST_MEASURED = 20
_LONGEST_NAME = 100
_SCHEMES = ("benchmark", "generator")
"""The schemes of programs that an agent may choose; files of this machine are excluded."""


class Toolbox:
    """The tools of one agent in one environment. Thread-safe; calls run one at a time.

    The tools are the methods from `describe` to `submit` that the environment supports.

    >>> with Toolbox("llvm-ic-v0", benchmark="cbench-v1/crc32") as toolbox:
    ...     answer = toolbox.call("apply", {"actions": ["sroa", "instcombine"]})
    ...     "IrInstructionCount" in answer
    True

    Args:
        env_id: The ID of an environment (`compiler-gym envs` lists them), or an environment, which
            is closed with the tools. If it has no reward, the recommended one is set.
        benchmark: The program, which the agent then cannot change. None starts with the
            environment's default and lets `reset` choose from the datasets.
        longest_answer: The maximum length of an answer, in characters.
        most_actions: The maximum number of actions in an episode.
        **make_arguments: Other arguments of `compiler_gym.make`.

    Raises:
        InvalidParameterError: The environment has no reward, or `longest_answer` is too small.
        UnknownNameError: The program does not exist.
    """

    def __init__(
        self,
        env_id: str | CompilerEnv,
        *,
        benchmark: str | None = None,
        longest_answer: int = _LONGEST_ANSWER,
        most_actions: int = _MOST_ACTIONS,
        **make_arguments: Any,
    ) -> None:
        if longest_answer < _LEAST_ANSWER:
            raise InvalidParameterError(
                f"longest_answer must be at least {_LEAST_ANSWER} (got {longest_answer})"
            )
        if isinstance(env_id, str):
            program = {} if benchmark is None else {"benchmark": benchmark}
            env, id = make(env_id, **program, **make_arguments), env_id
        else:
            env, id = env_id, "" if env_id.spec is None else env_id.spec.id
        try:
            reward = recommend_reward(id, env)
            if env.reward_space is None and reward is None:
                raise InvalidParameterError(f"{env!r} has no reward; set env.reward_space first")
            if env.reward_space is None:
                env.reward_space = reward
            self._bench = Workbench(env)
            self._bench.start(benchmark)
        except BaseException:
            env.close()
            raise
        self._views = Views(self._bench)
        self._is_limited = benchmark is not None
        self._room = longest_answer
        self._most_actions = most_actions
        self._submitted = False
        self._answer = ""
        self._calls = Calls(self._list_methods(), longest_answer=longest_answer, check=self._check)

    # -- not tools -----------------------------------------------------------------------------

    @property
    def env(self) -> CompilerEnv:
        """The current environment. Do not step it yourself; only the tools may."""
        return self._bench.env

    @property
    def submitted(self) -> str | None:
        """The agent's answer, which may be empty; None until it submits."""
        return self._answer if self._submitted else None

    @property
    def calls_left(self) -> int | None:
        """The number of calls left, which every answer includes; None is unlimited."""
        return self._calls.left

    @calls_left.setter
    def calls_left(self, value: int | None) -> None:
        self._calls.left = value

    def tools(self) -> list[Tool]:
        """Return the tools that this environment supports."""
        return list(self._calls.tools.values())

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> str:
        """Return the answer to one tool call. Never raises an error.

        Args:
            name: The name of a tool.
            arguments: The arguments as an object, or as JSON text.

        Returns:
            At most `longest_answer` characters. An error begins with ``error`` and its type, and
            suggests what to do next; the episode continues.
        """
        return self.answer(name, arguments)[0]

    def answer(self, name: object, arguments: object = None) -> tuple[str, bool]:
        """Return the answer of `call`, and whether it is an error."""
        return self._calls.answer(name, arguments)

    def close(self) -> None:
        """End the session and its processes."""
        self._bench.close()

    def __enter__(self) -> "Toolbox":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    # -- tools ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Describe the program, the compiler, the actions and the reward."""
        env = self.env
        space = env.action_space
        return {
            "compiler": env.compiler_version,
            "about": (type(env.unwrapped).__doc__ or "").strip().split("\n")[0],
            "program": env.episode.require().benchmark,
            "reward": f"{env.reward_space}: more is better; it is summed over the episode",
            "action_space": f"{space_name(space) or type(space).__name__}: {space!r:.300}",
            "tools": list(self._calls.tools),
            **(
                {} if self._is_limited else {"datasets": [dataset.name for dataset in env.datasets]}
            ),
            **self._state(),
        }

    def actions(self, search: str = "", page: int = 1) -> str:
        """List the actions that can be applied now, with their effects.

        Args:
            search: Show only actions whose name or description contains this text.
            page: Page of the list, from 1.
        """
        return self._list_page("actions", self._rows(self.env.action_space), search, page)

    def decisions(self, search: str = "", page: int = 1) -> str:
        """List the decisions in this program (about calls, loops, functions) and their actions.

        Args:
            search: Show only decisions that contain this text, such as the name of a function.
            page: Page of the list, from 1.
        """
        space = self.env.action_space
        descriptions = {part.name: part.description for part in action_parts(space)}
        lines = [
            f"{decision.name} ({descriptions.get(decision.name) or ', '.join(decision.groups)}): "
            + ", ".join(action_name(space, choice) for choice in decision.choices)
            for decision in space.decisions()
        ]
        return self._list_page("decisions", lines, search, page)

    def apply(self, actions: list[str]) -> dict[str, Any]:
        """Apply actions to the program, in order, as one step.

        Args:
            actions: Names from the list of actions; use JSON for actions without a name.
        """
        parsed, before = self._read(actions), measure_costs(self.env)
        _, _, terminated, _, info = self._bench.apply(parsed)
        if "error" in info:
            return self._describe_failure(info["error"], "these actions were reverted: try others")
        result: dict[str, Any] = {"had_effect": not info["action_had_no_effect"], "before": before}
        if terminated:
            result["ended"] = "the compiler has finished: submit or undo"
        return {**result, **self._state()}

    def try_actions(self, actions: list[str]) -> dict[str, Any]:
        """Show the effect of actions without changing the program.

        Args:
            actions: Names from the list of actions; use JSON for actions without a name.
        """
        parsed, before = self._read(actions), measure_costs(self.env)
        with self._bench.fork() as twin:
            _, reward, terminated, _, info = twin.multistep(parsed)
            if "error" in info:
                return self._describe_failure(info["error"], "try other actions")
            return {
                "had_effect": not info["action_had_no_effect"],
                "reward": reward,
                "before": before,
                "costs": measure_costs(twin),
                **({"ended": "the compiler would finish"} if terminated else {}),
                "kept": False,
            }

    def functions(self, search: str = "", page: int = 1) -> str:
        """List the functions of the program, longest first.

        Args:
            search: Show only functions whose name contains this text.
            page: Page of the list, from 1.
        """
        parts = self._views.functions(self._bench.step_count)
        counts = {name: text.count("\n") + 1 for name, text in parts.items() if name}
        longest = sorted(counts, key=lambda name: (-counts[name], name))
        lines = [f"{name}: {counts[name]:,} lines" for name in longest]
        return self._list_page("functions", lines, search, page)

    def show(
        self, view: str = "program", function: str = "", compare: str = "", page: int = 1
    ) -> str:
        """Show the program or its assembly, in full, of one function, or as a diff.

        Args:
            view: Code to show: program or assembly.
            function: Name of a function; empty shows everything.
            compare: Show changes since start, or since last (before the last step). Empty shows the
                current code.
            page: Page number, from 1.
        """
        now = self._bench.step_count
        text = self._views.code(view, function, now, missing="" if compare else None)
        title = f"{view} {function}".strip()
        if not compare:
            return self._write_page(title, text.split("\n"), page)
        earlier = {"start": 0, "last": max(now - 1, 0)}
        if compare not in earlier:
            raise UnknownNameError(unknown_name("comparison", compare[:_LONGEST_NAME], earlier))
        before = self._views.code(view, function, earlier[compare], missing="" if text else None)
        lines = difference(before, text) or ["nothing changed"]
        return self._write_page(f"{title} compared with {compare}", lines, page)

    def explain(self, search: str = "", page: int = 1) -> str:
        """Explain the last step: costs, changed functions and remarks on its last action.

        Args:
            search: Show only lines that contain this text, such as the name of a function.
            page: Page number, from 1.
        """
        if not self._bench.step_count:
            raise InvalidParameterError("there is no step to explain; apply actions first")
        return self._list_page("lines of changes", list(self._views.changes()), search, page)

    def measure(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """Measure the program: its costs next to those of the compiler's levels, or observations.

        Args:
            names: Names of at most 20 observations; empty measures the costs that need no run.
        """
        names = list(dict.fromkeys(names))
        if len(names) > _MOST_MEASURED:
            raise InvalidParameterError(
                f"name at most {_MOST_MEASURED} observations in one call (got {len(names):,})"
            )
        if not names:
            return {"costs": every_cost(self.env), "episode_reward": self.env.episode_reward}
        share = (self._room - _MARGIN) // len(names)
        return {name: self._views.value(name, share) for name in names}

    def undo(self, steps: int = 1) -> dict[str, Any]:
        """Undo the last steps.

        Args:
            steps: Number of steps to undo.
        """
        self._bench.undo(steps)
        return self._state()

    def reset(self, benchmark: str = "") -> dict[str, Any]:
        """Start again without any actions.

        Args:
            benchmark: Address of another program, if you may choose one; empty keeps this one.
        """
        if benchmark and self._is_limited:
            raise InvalidParameterError(
                "the program of this session is fixed; call reset without a benchmark"
            )
        if benchmark and BenchmarkUri.from_string(benchmark).scheme not in _SCHEMES:
            raise InvalidParameterError(
                f"{benchmark!r:.100} is not a program of a dataset; use benchmark://DATASET/NAME"
            )
        self._bench.start(benchmark or None)
        self._submitted = False
        return {"program": self.env.episode.require().benchmark, **self._state()}

    def submit(self, answer: str = "") -> dict[str, Any]:
        """End the episode; the actions applied so far are the result.

        Args:
            answer: Answer to the task's question; empty if it has none.
        """
        result = self._state()
        self._submitted, self._answer = True, answer
        commandline = cut(self.env.commandline(), self._room // 4)
        return {**result, "commandline": commandline, "submitted": True}

    # -- calls -----------------------------------------------------------------------------------

    def _list_methods(self) -> Iterator[Callable[..., Any]]:
        """Yield the methods that this environment supports."""
        yield from (self.describe, self.actions)
        if hasattr(self.env.action_space, "decisions"):
            yield self.decisions
        yield from (self.apply, self.try_actions)
        if self._views.have_functions:
            yield self.functions
        if self._views.panes:
            yield self.show
        yield from (self.explain, self.measure, self.undo, self.reset, self.submit)

    def _check(self, tool: str) -> None:
        """Refuse calls without a program; only a reset needs none."""
        if tool == "reset":
            return
        if self._submitted:
            raise SessionNotFound("the episode was submitted; call reset to start again")
        self._bench.require_program()

    def _describe_failure(self, error: Exception, advice: str) -> dict[str, Any]:
        """Return the answer for actions that failed in the compiler, which is not an error."""
        text = cut(str(error), self._room // 4)
        return {"failed": f"{type(error).__name__}: {text}", "next": advice, **self._state()}

    # -- helpers of the tools ----------------------------------------------------------------------

    def _read(self, actions: Sequence[str]) -> list[Any]:
        if not actions:
            raise InvalidParameterError("no actions; name at least one")
        remaining = self._most_actions - len(self.env.actions)
        if len(actions) > remaining:
            raise InvalidParameterError(
                f"at most {remaining} more actions are allowed, {self._most_actions} in total "
                f"(got {len(actions)})"
            )
        return [read_action(self.env.action_space, name) for name in actions]

    def _state(self) -> dict[str, Any]:
        """Return the common part of answers about actions: actions so far, costs and reward."""
        env = self.env
        latest = [action_name(env.action_space, action) for action in env.actions[-_MOST_LISTED:]]
        state: dict[str, Any] = {"applied": [cut(name, _LONGEST_NAME) for name in latest]}
        if len(env.actions) > _MOST_LISTED:
            state["applied_before"] = len(env.actions) - _MOST_LISTED
        if env.panes.question and env.in_episode:
            state["question"] = to_plain(self._bench.look(env.panes.question))
        return {**state, "costs": measure_costs(env), "episode_reward": env.episode_reward}

    def _rows(self, space: gymnasium.Space[Any]) -> list[str]:
        """Return a line for each action and for each part of composite actions."""
        # In a space with gaps, some names are not actions now; its parts describe them.
        names = action_names(space)[: getattr(space, "dense", None)]
        rows = zip(names, action_flags(space), action_descriptions(space), strict=False)
        lines = [_action_line(*row) for row in rows]
        masks = getattr(self.env, "action_masks", None)
        if masks is not None and lines:
            lines = [line for line, legal in zip(lines, masks(), strict=False) if legal]
        if not lines:
            sampler = copy.deepcopy(space)  # the same example for every agent
            sampler.seed(0)
            lines = [f"an action is JSON, such as {as_json(sampler.sample())}"]
        parts = [
            _action_line(f"{part.name}: {part.values}", "", part.description)
            for part in action_parts(space)
        ]
        return [*lines, *parts]

    def _list_page(self, noun: str, lines: Sequence[str], search: str, page: int) -> str:
        count = f"{len(lines)} {noun}"
        if search:
            names = [line.partition(":")[0] for line in lines]
            lines = [line for line in lines if search.lower() in line.lower()]
            count = f"{len(lines)} of {count} with {search[:_LONGEST_NAME]!r}"
            if not lines:
                near = ", ".join(close_names(names, search[:_LONGEST_NAME])[:5])
                raise UnknownNameError(f"{count}; try {near or 'a shorter text'}")
        return self._write_page(count, lines, page)

    def _write_page(self, title: str, lines: Sequence[str], page: int) -> str:
        text, more = make_page(lines, page, self._room - _MARGIN)
        return f"{cut(title, _MARGIN // 2)}{more and f', {more}'}\n{text}"


def _action_line(name: str, flag: str, description: str) -> str:
    shown = f"{name} ({flag})" if flag and flag != name else name
    return f"{shown}: {' '.join(description.split())}" if description else shown
