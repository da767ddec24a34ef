# SPDX-License-Identifier: MIT
"""An agent's views of a program: costs, code, functions and the changes of a step.

They come from the panes of the environment, so that nothing here depends on a compiler.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from compiler_gym.core import (
    CompilerEnv,
    CostPane,
    Listing,
    TextPane,
    parts_by_function,
    runs_program,
)
from compiler_gym.errors import ObservationError, UnknownNameError, unknown_name
from compiler_gym.spaces import Scalar, to_plain
from compiler_gym_agents.texts import as_json, cut, difference
from compiler_gym_agents.workbench import Workbench

__all__ = ["Views", "every_cost", "measure_costs"]

_FEW_NUMBERS = 100
_MOST_NAMES = 30
_LONGEST_NAME = 100
_LONGEST_HINT = 400


def measure_costs(env: CompilerEnv) -> dict[str, Any]:
    """Return the costs that are available at once, and the observation that the reward uses."""
    at_once = (pane.observation for pane in _static_costs(env) if pane.at_once)
    names = dict.fromkeys([*at_once, *_list_rewarded(env)])
    return {name: to_plain(env.observation[name]) for name in names}


def every_cost(env: CompilerEnv) -> dict[str, Any]:
    """Return every cost that needs no run, with the compiler's levels for those available at once,
    and with its baseline for the rewarded one."""
    rewarded, levels = _list_rewarded(env), dict[str, Mapping[str, str]]()
    for pane in _static_costs(env):
        has_levels = pane.at_once or pane.observation in rewarded
        levels[pane.observation] = pane.baselines if has_levels else {}
    for name in rewarded:
        baseline = str(env.reward_space)
        if baseline != name and baseline in env.observation:
            levels.setdefault(name, {baseline: baseline})
    costs: dict[str, Any] = {}
    for cost, baselines in levels.items():
        value = to_plain(env.observation[cost])
        standard = {
            label: to_plain(env.observation[name])
            for label, name in baselines.items()
            if name in env.observation and not runs_program(env, name)
        }
        costs[cost] = {"now": value, **standard} if standard else value
    return costs or measure_costs(env)


class Views:
    """The texts and values of the program on a workbench."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    @property
    def panes(self) -> dict[str, TextPane]:
        """The text panes by their names for agents."""
        panes, offered = self._bench.env.panes, self._bench.env.observation
        by_name = {"program": panes.text, "assembly": panes.assembly}
        return {
            name: pane
            for name, pane in by_name.items()
            if pane is not None and pane.observation in offered
        }

    @property
    def have_functions(self) -> bool:
        """True if the text of the program consists of functions."""
        program = self.panes.get("program")
        if program is None or program.listing.begin == Listing().begin:
            return False
        return any(self.functions(self._bench.step_count))

    def functions(self, step: int) -> dict[str, str]:
        """Return the text of each function of the program after `step` steps."""
        return self._parts("program", step)

    def code(self, view: str, function: str, step: int, *, missing: str | None = None) -> str:
        """Return a text, or one of its functions, after `step` steps.

        Args:
            view: One of `panes`.
            function: The name of a function; empty returns the whole text.
            step: The number of steps.
            missing: The result if there is no such function; None raises an error.

        Raises:
            UnknownNameError: The view or the function does not exist.
        """
        if not function:
            return self._text(view, step)[0]
        parts = self._parts(view, step)
        if function not in parts and missing is None:
            message = unknown_name("function", function[:_LONGEST_NAME], parts)
            raise UnknownNameError(cut(message, _LONGEST_HINT))
        return parts.get(function, missing or "")

    def changes(self) -> Iterator[str]:
        """Yield the effects of the last step, line by line."""
        now, env = self._bench.step_count, self._bench.env
        for cost in measure_costs(env):
            before, after = (self._bench.look_back(step, cost) for step in (now - 1, now))
            yield f"{cost}: {to_plain(before)} before, {to_plain(after)} after"
        if "program" in self.panes:
            old, new = (self.functions(step) for step in (now - 1, now))
            for name in dict.fromkeys([*new, *old]):
                if change := _summarise_change(old.get(name), new.get(name)):
                    yield f"{name or 'outside functions'}: {change}"
        record = env.panes.changes
        if record and record in env.observation:
            yield from _remark_lines(to_plain(self._bench.look(record)))

    def value(self, name: str, most: int) -> Any:
        """Return an observation as plain values, or only the beginning of a long one.

        Raises:
            UnknownNameError: The observation does not exist.
            ObservationError: Its value has no JSON form, or is a path.
        """
        observations = self._bench.env.observation
        if name not in observations:
            message = unknown_name("observation", name[:_LONGEST_NAME], observations)
            raise UnknownNameError(f"{cut(message, _LONGEST_HINT)}; short ones: {self._short()}")
        value = self._bench.look(name)
        plain = value.tolist() if isinstance(value, np.ndarray) else to_plain(value)
        if isinstance(plain, str) and os.path.isabs(plain) and os.path.lexists(plain):
            raise ObservationError(
                f"{name} is the path of a file on this machine, which agents cannot read; measure "
                f"another observation, such as {self._short()}"
            )
        try:
            text = plain if isinstance(plain, str) else as_json(plain)
        except TypeError:
            raise ObservationError(
                f"{name} is a {type(plain).__name__}, which has no JSON form; measure another "
                f"observation, such as {self._short()}"
            ) from None
        return plain if len(text) <= most else f"{cut(text, most)}; short ones: {self._short()}"

    def _short(self) -> str:
        """Return the names of observations with few numbers."""
        specs = self._bench.env.observation.spaces.values()
        shapes = {spec.id: spec.space.shape for spec in specs}
        short = [n for n, s in shapes.items() if s is not None and prod(s) <= _FEW_NUMBERS]
        return ", ".join(short[:_MOST_NAMES]) or "none"

    def _parts(self, view: str, step: int) -> dict[str, str]:
        text, pane = self._text(view, step)
        return parts_by_function(text, pane.listing)

    def _text(self, view: str, step: int) -> tuple[str, TextPane]:
        if view not in self.panes:
            raise UnknownNameError(unknown_name("view", view[:_LONGEST_NAME], self.panes))
        pane = self.panes[view]
        return pane.read(str(self._bench.look_back(step, pane.observation))).text, pane


def _static_costs(env: CompilerEnv) -> list[CostPane]:
    """Return the costs that need no run."""
    return [
        pane
        for pane in env.panes.costs
        if pane.observation in env.observation and not runs_program(env, pane.observation)
    ]


def _list_rewarded(env: CompilerEnv) -> Sequence[str]:
    """Return the observation that the reward uses, in a list; empty if it needs a run."""
    reward = env.reward_space
    return [
        name
        for name in (() if reward is None else reward.observation_spaces[:1])
        if isinstance(env.observation.spec(name).space, Scalar) and not runs_program(env, name)
    ]


def _summarise_change(before: str | None, after: str | None) -> str:
    """Return a summary of the change to a function; empty if there is none."""
    if before is None or after is None:
        return "added" if before is None else "removed"
    lines = difference(before, after) if before != after else []
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return f"{added} lines added, {removed} removed" if lines else ""


def _remark_lines(record: Any) -> Iterator[str]:
    """Yield the remarks in a table of changes as lines."""
    table = cast("dict[str, Any]", record if isinstance(record, dict) else {})
    for row in table.get("remarks", ()):
        location = f" in {row['function']}" if row.get("function") else ""
        yield f"remark: {row['kind']} by {row['pass']}{location}: {row['message']}"
