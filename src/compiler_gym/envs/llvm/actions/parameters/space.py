# SPDX-License-Identifier: MIT
"""The space ``Parameters``: actions that consist of a pass and values, as numbers or by name.

An agent's action is ``{"pass": number, "values": array}``. Each number of the array sets one
parameter of the pass, in the table's order: below 0 keeps LLVM's default, and 0 to 1 spans its
values. Numbers without a parameter are ignored, so every sample is a valid action. An action by
name is ``{"pass": "licm", "allowspeculation": False}``; episodes record this form.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any, cast

import gymnasium
import numpy as np

from compiler_gym.builds.compilation_database import split_command
from compiler_gym.envs.llvm.actions.parameters.table import (
    PARAMETERS,
    SLOTS,
    Form,
    Parameter,
    Setting,
    Value,
    make_setting,
)
from compiler_gym.envs.llvm.toolchain.commands import (
    is_opt,
    join_pipelines,
    opt_command,
    opt_parts,
    split_passes,
)
from compiler_gym.errors import InvalidActionError
from compiler_gym.spaces import ActionPart, Dict

__all__ = ["ParameterSpace"]


class ParameterSpace(Dict):
    """A pass and values for its parameters.

    >>> import compiler_gym
    >>> with compiler_gym.make("llvm-v0", action_space="Parameters") as env:
    ...     space = env.action_space
    ...     action = space.action("simplifycfg", {"bonus-inst-threshold": 3})
    >>> space.pipeline(action)
    'function(simplifycfg<bonus-inst-threshold=3>)'
    >>> space.to_plain(action)
    {'pass': 'simplifycfg', 'bonus-inst-threshold': 3}
    """

    def __init__(self, spaces: Iterable[tuple[str, gymnasium.Space[Any]]], name: str) -> None:
        super().__init__(list(spaces), name)
        passes: Any = self["pass"]
        self.flags: dict[str, str] = {item.name: item.flag for item in passes.items}
        """The pipeline of each pass."""
        self.move_names: list[str] = list(self.flags)
        """The names of the actions of `moves`."""
        self._numbers: dict[str, int] = {name: number for number, name in enumerate(self.flags)}
        self._by_text = {flag: name for name, flag in self.flags.items()}

    @property
    def parameters(self) -> Mapping[str, tuple[Parameter, ...]]:
        """The parameters of each pass that has any; see `Parameter`."""
        return PARAMETERS

    @property
    def parts(self) -> list[ActionPart]:
        """Each pass, followed by its parameters, for display."""
        passes: Any = self["pass"]
        parts: list[ActionPart] = []
        for item in passes.items:
            parts.append(ActionPart(item.name, "", item.description))
            parts += [
                ActionPart(f"{item.name} {p.name}", p.legend, p.description)
                for p in PARAMETERS.get(item.name, ())
            ]
        return parts

    case_key = "pass"
    """The key of the pass in an action by name."""

    @property
    def cases(self) -> dict[str, dict[str, Sequence[Value]]]:
        """Each pass with the values of its parameters, for user interfaces."""
        return {
            name: {p.name: p.values for p in PARAMETERS.get(name, ())} for name in self.move_names
        }

    def action(self, name: str, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the action of the pass `name` with these values, in an agent's form.

        Raises `InvalidActionError` for a pass, a parameter or a value that does not exist.
        """
        return self.from_plain({"pass": name, **(values or {})})

    def from_plain(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Return the agent's form of an action by name, or raise `InvalidActionError`."""
        make_setting(action, self.flags)
        name = cast("str", action["pass"])
        values = np.full(SLOTS, -1, np.float32)
        for slot, parameter in enumerate(PARAMETERS.get(name, ())):
            if parameter.name in action:
                place = parameter.index(action[parameter.name])
                values[slot] = (place + 0.5) / len(parameter.values)
        return {"pass": np.int64(self._numbers[name]), "values": values}

    def to_plain(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Return an action by name, with only the parameters that it sets.

        Raises `InvalidActionError` if `action` is not valid.
        """
        if "values" not in action:
            make_setting(action, self.flags)
            name: str = action["pass"]
            parameters = {p.name: p for p in PARAMETERS.get(name, ())}
            values = {n: p.values[p.index(action[n])] for n, p in parameters.items() if n in action}
            return {"pass": name, **values}
        name = self.move_names[int(action["pass"])]
        plain: dict[str, Any] = {"pass": name}
        for parameter, number in zip(PARAMETERS.get(name, ()), action["values"], strict=False):
            if number >= 0:
                place = int(float(number) * len(parameter.values))
                plain[parameter.name] = parameter.values[min(place, len(parameter.values) - 1)]
        return plain

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an action, by number or by name."""
        if isinstance(x, dict) and "pass" in x and "values" not in x:
            try:
                make_setting(cast("dict[str, Any]", x), self.flags)
            except InvalidActionError:
                return False
            return True
        return super().contains(x)

    def why_refused(self, x: Any) -> str:
        """Return the reason why `x` is not an action."""
        if isinstance(x, dict) and "pass" in x and "values" not in x:
            try:
                make_setting(cast("dict[str, Any]", x), self.flags)
            except InvalidActionError as error:
                return str(error)
        return (
            f"{x!r} is not an action of {self.name}: use {{'pass': NAME, PARAMETER: VALUE}} "
            f"or {{'pass': 0 to {len(self.flags) - 1}, 'values': {SLOTS} numbers from -1 to 1}}"
        )

    # -- text ----------------------------------------------------------------------------------

    def setting(self, action: Mapping[str, Any]) -> Setting:
        """Return the pipeline and options that LLVM runs for an action."""
        return make_setting(self.to_plain(self._check(action)), self.flags)

    def pipeline(self, action: Mapping[str, Any]) -> str:
        """Return the pass pipeline of one action; its options are in `setting`."""
        return self.setting(action).pipeline

    def to_string(self, actions: Iterable[Any], *, program: str = "input.bc") -> str:
        """Return the shell command that applies `actions` to `program`.

        It is one run of ``opt``, or a pipe of several: an action that sets command-line options
        needs its own run. The command produces the same bytes as the environment.
        """
        runs = _runs([self.setting(action) for action in actions])
        last = len(runs) - 1
        return " | ".join(
            opt_command(
                join_pipelines(pipelines),
                program if place == 0 else "-",
                "-" if place < last else "output.bc",
                options=options,
                keeps_use_lists=place < last,
            )
            for place, (pipelines, options) in enumerate(runs)
        )

    def from_string(self, string: str) -> list[Any]:
        """Return the actions, by name, of a command or pass pipeline.

        Raises `InvalidActionError` if a part is not in this action space.
        """
        words = split_command(string)
        if not words or not is_opt(words[0]):
            return [self._read(part, ()) for part in split_passes(string)]
        actions: list[Any] = []
        for command in _between_pipes(words):
            passes, options = _parse(command)
            if options and len(passes) != 1:
                raise InvalidActionError(
                    f"options are set for one pass at a time, but this run of opt has "
                    f"{len(passes)}: {passes}"
                )
            actions += [self._read(part, options) for part in passes]
        return actions

    def _check(self, action: Any) -> Mapping[str, Any]:
        if not self.contains(action):
            raise InvalidActionError(self.why_refused(action))
        return action

    def _read(self, text: str, options: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Return the action for a pass of a pipeline and its command-line options."""
        name, words = self._split_words(text)
        parameters = PARAMETERS.get(name, ())
        action: dict[str, Any] = {"pass": name}
        for word in words:
            values = ((p, p.read(word)) for p in parameters if p.form is not Form.OPTION)
            match = next(((p, value) for p, value in values if value is not None), None)
            if match is None:
                raise InvalidActionError(f"{name} does not accept {word!r}, in {text!r}")
            action[match[0].name] = match[1]
        for option, value in options:
            parameter = next(
                (p for p in parameters if p.name == option and p.form is Form.OPTION), None
            )
            plain: Value | None = None if parameter is None else parameter.read(value)
            if plain is None:
                raise InvalidActionError(f"{name} does not accept the option -{option}={value}")
            action[option] = plain
        return self.to_plain(action)

    def _split_words(self, text: str) -> tuple[str, list[str]]:
        """Return the name of a pass in a pipeline, and its parameters."""
        if text in self._by_text:
            return self._by_text[text], []
        if text in self.flags:
            return text, []
        inner = text.rstrip(")")
        closing = text[len(inner) :]
        head, _, arguments = inner.removesuffix(">").partition("<")
        words = arguments.split(";") if arguments else []
        for name in PARAMETERS:
            flag = self.flags.get(name, "")
            if flag == f"{head}{closing}":
                return name, words
            if flag == f"{head}<{words[0] if words else ''}>{closing}":
                return name, words[1:]
        raise InvalidActionError(
            f"{text!r} is not an action of {self.name}; write its pipeline text"
        )

    # -- search --------------------------------------------------------------------------------

    def moves(self) -> list[dict[str, Any]]:
        """Return the plain passes: actions that set no parameter."""
        return [{"pass": name} for name in self.flags]

    def neighbour(self, action: Mapping[str, Any], generator: Random) -> dict[str, Any] | None:
        """Return an action that differs in one parameter; None if the pass has no parameters."""
        plain = self.to_plain(action)
        parameters = PARAMETERS.get(plain["pass"], ())
        if not parameters:
            return None
        parameter = generator.choice(parameters)
        if parameter.name in plain and generator.random() < _LEAVE:
            del plain[parameter.name]
            return self.to_plain(plain)
        values = [v for v in _sample(parameter, generator) if v != plain.get(parameter.name)]
        plain[parameter.name] = generator.choice(values or list(parameter.values))
        return self.to_plain(plain)


_LEAVE = 0.3
"""The probability that `neighbour` resets a parameter instead of changing it."""


def _sample(parameter: Parameter, generator: Random) -> list[Value]:
    """Return all values if there are at most 8, otherwise 8 random ones."""
    values = parameter.values
    return list(values) if len(values) <= 8 else generator.sample(list(values), 8)


def _runs(settings: Sequence[Setting]) -> list[tuple[list[str], tuple[tuple[str, str], ...]]]:
    """Return the pipelines and options of each run of ``opt``."""
    runs: list[tuple[list[str], tuple[tuple[str, str], ...]]] = []
    for setting in settings:
        if runs and not setting.options and not runs[-1][1]:
            runs[-1][0].append(setting.pipeline)
        else:
            runs.append(([setting.pipeline], setting.options))
    return runs or [([], ())]


def _between_pipes(words: Sequence[str]) -> list[list[str]]:
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            commands.append([])
        else:
            commands[-1].append(word)
    for command in commands:
        if not command or not is_opt(command[0]):
            raise InvalidActionError(f"{' '.join(command)!r} is not an opt command")
    return commands


def _parse(command: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the passes and the options of one run of ``opt``."""
    parts = opt_parts(command[1:])
    options = [part.lstrip("-").partition("=") for part in parts if part.startswith("-")]
    passes = [part for part in parts if not part.startswith("-")]
    return passes, [(name, value) for name, _, value in options]
