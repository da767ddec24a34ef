# SPDX-License-Identifier: MIT
"""Rules: a formula for each decision that they take over from the linker.

Formulas are read here only as far as needed to edit them; the plug-in reads them completely.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from compiler_gym.errors import InvalidParameterError, UnknownNameError, unknown_name

__all__ = ["ENCODING", "INPUTS", "MOST_CHARACTERS", "Rule", "list_inputs", "read_header"]

INPUTS: Mapping[str, tuple[str, ...]] = {
    "inline": ("INLINE_INPUTS", "CALL_INPUTS"),
    "order": ("CALL_INPUTS",),
    "frame": ("FUNCTION_INPUTS",),
    "outline": ("FUNCTION_INPUTS",),
    "choose": ("FUNCTION_INPUTS", "SETTING_INPUTS"),
}
"""The decisions, and the tables in ``inputs.h`` of their inputs."""
MOST_CHARACTERS = 1 << 16
"""The maximum length of a rule; ``inputs.h`` documents it."""
ENCODING = "// encoding"
"""The line after which a rule is C++: a function that writes shorter instructions."""
_ROW = re.compile(r"INPUT\((\w+), \"(.*?)\"\)")


@dataclass(frozen=True, slots=True)
class Rule:
    """A formula for each decision that the rule takes over; the linker takes all others.

    >>> rule = Rule().edit("inline = default; frame = calls > 2")
    >>> rule.edit("inline =").text
    'frame = calls > 2'
    """

    formulas: Mapping[str, str] = field(default_factory=dict[str, str])
    encoding: str = ""
    """C++ that defines the function ``rewrite``; empty for none."""

    @property
    def lines(self) -> str:
        """The formulas as the plug-in reads them, with the decisions in a fixed order."""
        return "\n".join(
            f"{name} = {self.formulas[name]}" for name in INPUTS if name in self.formulas
        )

    @property
    def text(self) -> str:
        """The whole rule."""
        encoding = f"{ENCODING}\n{self.encoding}" if self.encoding else ""
        return "\n".join(filter(None, [self.lines, encoding]))

    def edit(self, text: str) -> "Rule":
        """Return the rule with the lines of `text`, which may also be separated by semicolons.

        A line replaces the formula of its decision, or removes it if there is none after the
        equals sign. After the line `ENCODING`, the text is C++ and replaces the encoding. Raises
        `InvalidParameterError` for text that is not a rule.
        """
        formulas = dict(self.formulas)
        if len(text) > MOST_CHARACTERS:
            raise InvalidParameterError(
                f"a rule has at most {MOST_CHARACTERS:,} characters (got {len(text):,})"
            )
        text, mark, source = f"\n{text}".partition(f"\n{ENCODING}\n")
        encoding = source.strip() if mark else self.encoding
        lines = [line.strip() for line in re.split(r"[\n;]", text)]
        for line in filter(None, lines):
            name, equals, formula = (part.strip() for part in line.partition("="))
            if not equals:
                raise InvalidParameterError(f"{line!r:.200} is not a rule; write NAME = FORMULA")
            if name not in INPUTS:
                raise UnknownNameError(unknown_name("decision", name[:100], list(INPUTS)))
            if not formula.isprintable():
                raise InvalidParameterError(f"the formula for {name!r} has unprintable characters")
            formulas.pop(name, None)
            if formula:
                formulas[name] = formula
        return Rule(formulas, encoding)


@cache
def read_header() -> str:
    """Return the text of ``inputs.h``, which documents the inputs and the limits of rules."""
    return files("compiler_gym_inline.rules.llvm").joinpath("inputs.h").read_text("utf-8")


@cache
def list_inputs(decision: str) -> tuple[str, ...]:
    """Return the names of the inputs of `decision`."""
    header = read_header()
    return tuple(
        name
        for table in INPUTS[decision]
        for name, _ in _ROW.findall(
            header.partition(f"#define {table}(")[2].partition("#define")[0]
        )
    )
