# SPDX-License-Identifier: MIT
"""The parameters of passes: the values that each takes, and how they are passed to LLVM.

Most are part of the pipeline's text. Some are known to LLVM's command line alone: they
are set around one pass, as in a run of ``opt`` of its own.
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
"""The action space."""
STYLE = "opt-parameters"
"""How its actions are written."""
Value = bool | int | str


class Form(Enum):
    """How LLVM is told the value of a parameter."""

    SWITCH = "switch"
    """In the pipeline: ``name``, or ``no-name``."""
    FLAG = "flag"
    """In the pipeline: ``name``; there is no word for the contrary."""
    WORD = "word"
    """In the pipeline: the value alone."""
    NUMBER = "number"
    """In the pipeline: ``name=value``."""
    OPTION = "option"
    """On the command line: ``-name=value``."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something that a pass can be told."""

    pass_name: str
    name: str
    """LLVM's word, unless its form is a word: then ours."""
    form: Form
    values: Sequence[Value]
    """What it may be set to, in order: a range of numbers, truth values or words."""
    default: str
    """What LLVM's option says that it is when it is not set; empty where LLVM does not say,
    because it depends on the level, the target or the program."""
    description: str

    @property
    def legend(self) -> str:
        """The values, for people.

        >>> PARAMETERS["simplifycfg"][0].legend
        '0..16'
        """
        if isinstance(self.values, range):
            return f"{self.values[0]}..{self.values[-1]}"
        return ", ".join(map(_value_text, self.values))

    def index(self, value: Any) -> int:
        """Return the place of `value` among the values, or raise `InvalidActionError`."""
        plain = value.item() if hasattr(value, "item") else value
        for place, known in enumerate(() if isinstance(self.values, range) else self.values):
            if type(known) is type(plain) and known == plain:
                return place
        if isinstance(self.values, range) and type(plain) is int and plain in self.values:
            return self.values.index(plain)
        raise InvalidActionError(
            f"{self.pass_name} takes {self.name} = {self.legend}, found {value!r}"
        )

    def text(self, value: Value) -> str:
        """Return how LLVM is told `value`, in the pipeline or as the value of its option."""
        if self.form in (Form.SWITCH, Form.FLAG):
            return self.name if value else f"no-{self.name}"
        return f"{self.name}={value}" if self.form is Form.NUMBER else _value_text(value)

    def read(self, text: str) -> Value | None:
        """Return the value that `text` tells, or None if it is no text of this parameter."""
        if isinstance(self.values, range):
            number = text.removeprefix(f"{self.name}=" if self.form is Form.NUMBER else "")
            plain = number.removeprefix("-").isdecimal() and int(number) in self.values
            return int(number) if plain and self.text(int(number)) == text else None
        return next((value for value in self.values if self.text(value) == text), None)


@dataclass(frozen=True, slots=True)
class Setting:
    """A pass with values: what LLVM runs."""

    pipeline: str
    """The text of the pipeline."""
    options: tuple[tuple[str, str], ...] = ()
    """Names and values of LLVM's options that hold while it runs."""


def make_setting(action: Mapping[str, Any], flags: Mapping[str, str]) -> Setting:
    """Return what an action runs: ``{"pass": NAME, PARAMETER: VALUE, ...}``.

    `flags` has the pipeline of each pass. Raises `InvalidActionError` for a pass, a parameter
    or a value that does not exist.

    >>> flags = {"licm": "function(loop-mssa(licm))"}
    >>> action = {"pass": "licm", "allowspeculation": False, "licm-control-flow-hoisting": True}
    >>> make_setting(action, flags).pipeline, make_setting(action, flags).options
    ('function(loop-mssa(licm<no-allowspeculation>))', (('licm-control-flow-hoisting', 'true'),))
    """
    name = action.get("pass")
    if not isinstance(name, str) or name not in flags:
        hint = did_you_mean(name, flags)
        raise InvalidActionError(f"expected the name of a pass, found {name!r}: {hint or 'none'}")
    known = {parameter.name: parameter for parameter in PARAMETERS.get(name, ())}
    for key in action:
        if key != "pass" and key not in known:
            takes = ", ".join(known) or "none"
            raise InvalidActionError(f"{name} has no parameter {key!r}: expected one of {takes}")
    words: list[str] = []
    options: list[tuple[str, str]] = []
    for key, parameter in known.items():  # in their order: one action has one text
        if key not in action:
            continue
        text = parameter.text(parameter.values[parameter.index(action[key])])
        if parameter.form is Form.OPTION:
            options.append((key, text))
        else:
            words.append(text)
    return Setting(_with_words(flags[name], words), tuple(options))


def _with_words(flag: str, words: Sequence[str]) -> str:
    """Return the pipeline of one pass with words for it.

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
    found: dict[str, list[Parameter]] = {}
    for line in lines[1:]:
        name, parameter, kind, values, default, description = line.split("\t")
        form = Form(kind)
        row = Parameter(name, parameter, form, _values(form, values), default, description)
        found.setdefault(name, []).append(row)
    return {name: tuple(rows) for name, rows in found.items()}


PARAMETERS: Mapping[str, tuple[Parameter, ...]] = cast("Mapping[str, Any]", _parameters())
"""The parameters of each pass that has some, in the order of their slots."""
SLOTS = max(map(len, PARAMETERS.values()))
"""The most parameters that a pass has."""
