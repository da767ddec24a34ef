# SPDX-License-Identifier: MIT
"""The parameters of passes: their values, and the syntax in which LLVM accepts them.

Most are part of the pipeline text. Some exist only as command-line options of LLVM; these are
set for one pass, as in a separate run of ``opt``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from typing import Any, cast

from compiler_gym.errors import InvalidActionError
from compiler_gym.errors.nearest import did_you_mean

__all__ = ["NAME", "PARAMETERS", "SLOTS", "STYLE", "Form", "Parameter", "Setting", "make_setting"]

NAME = "Parameters"
"""The name of the action space."""
STYLE = "opt-parameters"
"""The style in which its actions are written."""
Value = bool | int | str


class Form(Enum):
    """The syntax for the value of a parameter."""

    SWITCH = "switch"
    """``name`` or ``no-name`` in the pipeline."""
    FLAG = "flag"
    """``name`` in the pipeline; it cannot be negated."""
    WORD = "word"
    """The value alone in the pipeline."""
    NUMBER = "number"
    """``name=value`` in the pipeline."""
    OPTION = "option"
    """``-name=value`` on the command line."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a pass."""

    pass_name: str
    name: str
    """LLVM's name for it; our own name if the form is a word."""
    form: Form
    values: Sequence[Value]
    """The possible values, in order: a range of numbers, Booleans or keywords."""
    default: str
    """LLVM's default; empty if it depends on the level, the target or the program."""
    description: str

    @property
    def legend(self) -> str:
        """The values, for display.

        >>> PARAMETERS["simplifycfg"][0].legend
        '0..16'
        """
        if isinstance(self.values, range):
            return f"{self.values[0]}..{self.values[-1]}"
        return ", ".join(map(_value_text, self.values))

    def index(self, value: Any) -> int:
        """Return the index of `value` among the values, or raise `InvalidActionError`."""
        plain = value.item() if hasattr(value, "item") else value
        for place, candidate in enumerate(() if isinstance(self.values, range) else self.values):
            if type(candidate) is type(plain) and candidate == plain:
                return place
        if isinstance(self.values, range) and type(plain) is int and plain in self.values:
            return self.values.index(plain)
        raise InvalidActionError(
            f"{self.pass_name}: {self.name} must be one of {self.legend} (got {value!r})"
        )

    def text(self, value: Value) -> str:
        """Return the text that sets `value`, in the pipeline or as the value of its option."""
        if self.form in (Form.SWITCH, Form.FLAG):
            return self.name if value else f"no-{self.name}"
        return f"{self.name}={value}" if self.form is Form.NUMBER else _value_text(value)

    def read(self, text: str) -> Value | None:
        """Return the value that `text` sets; None if it does not belong to this parameter."""
        if isinstance(self.values, range):
            number = text.removeprefix(f"{self.name}=" if self.form is Form.NUMBER else "")
            plain = number.removeprefix("-").isdecimal() and int(number) in self.values
            return int(number) if plain and self.text(int(number)) == text else None
        return next((value for value in self.values if self.text(value) == text), None)


@dataclass(frozen=True, slots=True)
class Setting:
    """A pass with values for its parameters, as LLVM runs it."""

    pipeline: str
    """The pipeline text."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values of LLVM's command-line options that are set while it runs."""


def make_setting(action: Mapping[str, Any], flags: Mapping[str, str]) -> Setting:
    """Return the setting for an action ``{"pass": NAME, PARAMETER: VALUE, ...}``.

    `flags` maps each pass to its pipeline. Raises `InvalidActionError` for an unknown pass,
    parameter or value.

    >>> flags = {"licm": "function(loop-mssa(licm))"}
    >>> action = {"pass": "licm", "allowspeculation": False, "licm-control-flow-hoisting": True}
    >>> make_setting(action, flags).pipeline, make_setting(action, flags).options
    ('function(loop-mssa(licm<no-allowspeculation>))', (('licm-control-flow-hoisting', 'true'),))
    """
    name = action.get("pass")
    if not isinstance(name, str) or name not in flags:
        hint = did_you_mean(name, flags) or "env.action_space.flags lists all"
        raise InvalidActionError(f"no pass {name!r}: {hint}")
    parameters = {parameter.name: parameter for parameter in PARAMETERS.get(name, ())}
    for key in action:
        if key != "pass" and key not in parameters:
            hint = f"choose from {', '.join(parameters)}" if parameters else "it takes none"
            raise InvalidActionError(f"{name} has no parameter {key!r}; {hint}")
    words: list[str] = []
    options: list[tuple[str, str]] = []
    for key, parameter in parameters.items():  # in the table's order: an action has only one text
        if key not in action:
            continue
        text = parameter.text(parameter.values[parameter.index(action[key])])
        if parameter.form is Form.OPTION:
            options.append((key, text))
        else:
            words.append(text)
    return Setting(_with_words(flags[name], words), tuple(options))


def _with_words(flag: str, words: Sequence[str]) -> str:
    """Return the pipeline of one pass with parameters added.

    >>> _with_words("function(instcombine<no-verify-fixpoint>)", ["max-iterations=2"])
    'function(instcombine<no-verify-fixpoint;max-iterations=2>)'
    """
    if not words:
        return flag
    inner = flag.rstrip(")")
    head = f"{inner[:-1]};" if inner.endswith(">") else f"{inner}<"
    return f"{head}{';'.join(words)}>{flag[len(inner) :]}"


def _value_text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(form: Form, text: str) -> Sequence[Value]:
    low, dots, high = text.partition("..")
    if dots:
        return range(int(low), int(high) + 1)
    words = text.split("|")
    if {*words} <= {"no", "yes", "false", "true"}:
        return tuple(word in ("yes", "true") for word in words)
    if form is Form.OPTION and all(word.lstrip("-").isdecimal() for word in words):
        return tuple(map(int, words))
    return tuple(words)


def _parameters() -> dict[str, tuple[Parameter, ...]]:
    text = files(__package__ or "").joinpath("passes.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows_by_pass: dict[str, list[Parameter]] = {}
    for line in lines[1:]:
        name, parameter, kind, values, default, description = line.split("\t")
        form = Form(kind)
        row = Parameter(name, parameter, form, _values(form, values), default, description)
        rows_by_pass.setdefault(name, []).append(row)
    return {name: tuple(rows) for name, rows in rows_by_pass.items()}


PARAMETERS: Mapping[str, tuple[Parameter, ...]] = cast("Mapping[str, Any]", _parameters())
"""The parameters of each pass that has any, in the order of their slots."""
SLOTS = max(map(len, PARAMETERS.values()))
"""The largest number of parameters of any pass."""
