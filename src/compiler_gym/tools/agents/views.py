# SPDX-License-Identifier: MIT
"""What an agent can see of a program: costs, code, functions and what a step changed.

All of it comes from the panes that the environment lists, so that nothing here knows a compiler.
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
from compiler_gym.tools.agents.texts import as_json, cut, difference
from compiler_gym.tools.agents.workbench import Workbench

__all__ = ["Views", "every_cost", "measure_costs"]

_FEW_NUMBERS = 100
_MOST_NAMES = 30
_LONGEST_NAME = 100
_LONGEST_HINT = 400


def measure_costs(env: CompilerEnv) -> dict[str, Any]:
    """Return the costs that take no time, and what the reward is made of."""
    at_once = (one.observation for one in _quiet(env) if one.at_once)
    chosen = dict.fromkeys([*at_once, *_list_rewarded(env)])
    return {name: to_plain(env.observation[name]) for name in chosen}


def every_cost(env: CompilerEnv) -> dict[str, Any]:
    """Return every cost that needs no run; those that take no time beside the compiler's levels,
    and the one that is rewarded beside what it is compared with."""
    rewarded, levels = _list_rewarded(env), dict[str, Mapping[str, str]]()
    for one in _quiet(env):
        is_shown = one.at_once or one.observation in rewarded
        levels[one.observation] = one.baselines if is_shown else {}
    for name in rewarded:
        baseline = str(env.reward_space)
        if baseline != name and baseline in env.observation:
            levels.setdefault(name, {baseline: baseline})
    found: dict[str, Any] = {}
    for cost, others in levels.items():
        value = to_plain(env.observation[cost])
        standard = {
            label: to_plain(env.observation[name])
            for label, name in others.items()
            if name in env.observation and not runs_program(env, name)
        }
        found[cost] = {"now": value, **standard} if standard else value
    return found or measure_costs(env)


class Views:
    """The texts and values of the program on a workbench."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    @property
    def panes(self) -> dict[str, TextPane]:
        """The texts that can be shown, by what an agent calls them."""
        panes, offered = self._bench.env.panes, self._bench.env.observation
        known = {"program": panes.text, "assembly": panes.assembly}
        return {
            name: pane
            for name, pane in known.items()
            if pane is not None and pane.observation in offered
        }

    @property
    def have_functions(self) -> bool:
        """True if the text of the program is made of functions."""
        program = self.panes.get("program")
        if program is None or program.listing.begin == Listing().begin:
            return False
        return any(self.functions(self._bench.step_count))

    def functions(self, step: int) -> dict[str, str]:
        """Return the text of each function of the program after `step` steps."""
        return self._parts("program", step)

    def code(self, view: str, function: str, step: int, *, missing: str | None = None) -> str:
        """Return a text, or one function of it, after `step` steps.

        Args:
            view: One of `panes`.
            function: A function; empty for the whole text.
            step: After how many steps.
            missing: What to return where there is no such function; None raises an error.

        Raises:
            UnknownNameError: There is no such view or function.
        """
        if not function:
            return self._text(view, step)[0]
        parts = self._parts(view, step)
        if function not in parts and missing is None:
            known = unknown_name("function", function[:_LONGEST_NAME], parts)
            raise UnknownNameError(cut(known, _LONGEST_HINT))
        return parts.get(function, missing or "")

    def changes(self) -> Iterator[str]:
        """Yield what the last step did, line by line."""
        now, env = self._bench.step_count, self._bench.env
        for cost in measure_costs(env):
            before, after = (self._bench.look_back(step, cost) for step in (now - 1, now))
            yield f"{cost}: {to_plain(before)} before, {to_plain(after)} after"
        if "program" in self.panes:
            old, new = (self.functions(step) for step in (now - 1, now))
            for name in dict.fromkeys([*new, *old]):
                if change := _became(old.get(name), new.get(name)):
                    yield f"{name or 'outside functions'}: {change}"
        told = env.panes.changes
        if told and told in env.observation:
            yield from _remark_lines(to_plain(self._bench.look(told)))

    def value(self, name: str, most: int) -> Any:
        """Return an observation as plain values, or the beginning of a long one.

        Raises:
            UnknownNameError: There is no such observation.
            ObservationError: Its value cannot be written.
        """
        observations = self._bench.env.observation
        if name not in observations:
            known = unknown_name("observation", name[:_LONGEST_NAME], observations)
            raise UnknownNameError(f"{cut(known, _LONGEST_HINT)}; short ones are {self._short()}")
        value = self._bench.look(name)
        plain = value.tolist() if isinstance(value, np.ndarray) else to_plain(value)
        if isinstance(plain, str) and os.path.isabs(plain) and os.path.lexists(plain):
            raise ObservationError(
                f"{name} is the name of a file on this machine, which agents do not see: measure "
                f"another observation, such as {self._short()}"
            )
        try:
            text = plain if isinstance(plain, str) else as_json(plain)
        except TypeError:
            raise ObservationError(
                f"{name} is a {type(plain).__name__}, which has no JSON form: expected another "
                f"observation, such as {self._short()}"
            ) from None
        return plain if len(text) <= most else f"{cut(text, most)}; short ones are {self._short()}"

    def _short(self) -> str:
        """Return the names of observations that are a few numbers."""
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


def _quiet(env: CompilerEnv) -> list[CostPane]:
    """Return the costs that need no run."""
    return [
        one
        for one in env.panes.costs
        if one.observation in env.observation and not runs_program(env, one.observation)
    ]


def _list_rewarded(env: CompilerEnv) -> Sequence[str]:
    """Return the number that the reward is made of, unless it needs a run."""
    reward = env.reward_space
    return [
        name
        for name in (() if reward is None else reward.observation_spaces[:1])
        if isinstance(env.observation.spec(name).space, Scalar) and not runs_program(env, name)
    ]


def _became(before: str | None, after: str | None) -> str:
    """Return what became of a function, or nothing."""
    if before is None or after is None:
        return "new" if before is None else "gone"
    lines = difference(before, after) if before != after else []
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return f"{added} lines added, {removed} removed" if lines else ""


def _remark_lines(record: Any) -> Iterator[str]:
    """Yield the remarks in a record of changes, which is a table of plain values."""
    table = cast("dict[str, Any]", record if isinstance(record, dict) else {})
    for row in table.get("remarks", ()):
        where = f" in {row['function']}" if row.get("function") else ""
        yield f"remark: {row['kind']} by {row['pass']}{where}: {row['message']}"
