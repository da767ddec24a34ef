# SPDX-License-Identifier: MIT
"""Parse the options of a GCC from its help.

GCC 5 to 9 list parameters by bare names with default, minimum and maximum; from GCC 10 on, a
parameter is an option with its range in angle brackets. This file parses both and runs nothing.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from compiler_gym_gcc.actions.options import (
    GccFlagAlignOption,
    GccFlagEnumOption,
    GccFlagIntOption,
    GccFlagOption,
    GccOOption,
    GccParamEnumOption,
    GccParamIntOption,
    Option,
    negative,
)

__all__ = ["list_refused_settings", "read_optimizers", "read_params", "without_refused"]

MOST = 2**31 - 1
"""The largest value if the compiler does not state a range."""

_ITEM = re.compile(r"^ {1,4}(-\S+|[a-z][\w-]*)(?:\s+(.*))?$")
_WORD_CHOICES = re.compile(r"^(?P<name>\S+=)\[(?P<words>[^]]+)\]$")
_RANGE = re.compile(r"^(?P<name>\S+=)<(?P<low>-?\d+),(?P<high>-?\d+)>$")
_NUMBER_OPTION = re.compile(r"^(?P<name>\S+=)<\w+>$")
_BOUNDS = re.compile(
    r"^default (?P<default>\S+)(?: minimum (?P<low>-?\d+) maximum (?P<high>-?\d+))?"
)
_MISPLACED = re.compile(r"^  [A-Z][\w ]*\. (?=-f\S+=)")
"""Text that GCC 7 and 8 print before the name of ``-fvect-cost-model``."""
_KNOWN = re.compile(r"^\s*Known valid arguments for (\S+) option:\s*$")
_MOST_LISTED = 64
_ALIASES = {"-fhandle-exceptions": "-fexceptions"}
"""Old names that the compiler treats as synonyms of the new ones."""
_NEEDS_A_FILE = ("-fauto-profile", "-fauto-profile=")
"""Switches that need a file from an earlier run of the program."""
_POWERS_OF_TWO = {
    "-fpack-struct=": ("1", "2", "4", "8", "16"),
    "-fmin-function-alignment=": ("1", "2", "4", "8", "16", "32", "64"),
}
"""Flags that accept any number according to the help, but only these in fact."""
_BOUNDED = {"-flifetime-dse=": (0, 2)}
"""Ranges of flags for which GCC 6 to 8 state none."""
_ASKED = "?"
"""An invalid value: the compiler's error message lists the valid ones."""
_UNRECOGNIZED = re.compile(r"error: unrecognized command[- ]line option '([^']+)'")
_VALID = re.compile(r"valid arguments to '([^']+)' are: (.+)")


@dataclass(frozen=True, slots=True)
class _Item:
    """One line of help: the option and its description."""

    text: str
    rest: str


def read_optimizers(help_text: str, values_text: str = "") -> list[Option]:
    """Return the options in ``gcc --help=optimizers``.

    `values_text` is the output of ``gcc -Q --help=optimizers``: the current values.
    """
    items = list(_items(help_text))
    values = {item.text: item.rest for item in _items(values_text)}
    words = _read_known_arguments(help_text) | _read_known_arguments(values_text)
    levels = _level_names(item.text for item in items)
    options_by_name: dict[str, Option] = {}
    for item in items:
        option = _flag_option(item.text, values.get(item.text, ""), words)
        if (
            option is None
            or option.name in options_by_name
            or negative(option.name) in options_by_name
        ):
            continue  # GCC 14 and newer list both a switch and its opposite
        options_by_name[option.name] = option
    aligned = {name for name, o in options_by_name.items() if isinstance(o, GccFlagAlignOption)}
    options = [
        o for n, o in options_by_name.items() if n.rstrip("=") not in aligned or n in aligned
    ]
    return ([GccOOption(levels)] if levels else []) + options


def read_params(help_text: str, values_text: str = "") -> list[Option]:
    """Return the parameters in ``gcc --help=params`` and ``gcc -Q --help=params``."""
    listed = [item for item in _items(help_text) if item.text.startswith("--param=")]
    if listed:
        values = {item.text: item.rest for item in _items(values_text)}
        words = _read_known_arguments(help_text) | _read_known_arguments(values_text)
        parsed = (_param(item.text, values.get(item.text, ""), words) for item in listed)
    else:
        parsed = (_old_param(item) for item in _items(values_text))
    params: dict[str, Option] = {}
    for option in parsed:
        if option is not None:
            params.setdefault(option.name, option)
    return list(params.values())


def list_refused_settings(options: Iterable[Option]) -> list[str]:
    """Return the settings to try with a compiler; `without_refused` reads the errors."""
    words: list[str] = []
    for option in options:
        ends = (0, len(option) - 1)
        words += list(option) if len(option) < _MOST_LISTED else [option[i] for i in ends]
    return words


def without_refused(options: Iterable[Option], errors: str) -> list[Option]:
    """Return `options` without those that the compiler rejects in `errors`.

    The errors can also show that a number is in fact a keyword or that a switch has no opposite,
    and they list the keywords of flags whose help does not.
    """
    unknown = set(_UNRECOGNIZED.findall(errors))
    words = {name: tuple(text.split(";")[0].split()) for name, text in _VALID.findall(errors)}
    accepted = (_without(option, unknown, words) for option in options)
    return [option for option in accepted if option is not None]


def _without(option: Option, unknown: set[str], words: dict[str, tuple[str, ...]]) -> Option | None:
    if isinstance(option, GccParamIntOption) and option.name in words:
        return GccParamEnumOption(option.name, words[option.name])
    if isinstance(option, GccFlagOption):
        accepted = [setting for setting in option if setting not in unknown]
        alone = len(accepted) < len(option)
        return (GccFlagOption(accepted[0], no_fno=True) if alone else option) if accepted else None
    if isinstance(option, GccFlagEnumOption) and option.values == (_ASKED,):
        return GccFlagEnumOption(option.name, words[option.name]) if option.name in words else None
    if isinstance(option, (GccFlagEnumOption, GccParamEnumOption)):
        values = tuple(v for v in option.values if option.name + v not in unknown)
        return replace(option, values=values) if values else None
    if isinstance(option, GccOOption):
        return GccOOption(tuple(level for level in option.levels if f"-O{level}" not in unknown))
    return None if unknown.intersection((option[0], option[len(option) - 1])) else option


def _items(text: str) -> Iterator[_Item]:
    """Yield each entry of the help, joined with its continuation lines."""
    current: list[str] = []
    for printed in text.splitlines():
        line = _MISPLACED.sub("  ", printed)
        if _ITEM.match(line):
            if current:
                yield _item(current)
            current = [line]
        elif line.startswith("     ") and current:
            current.append(line.strip())
        elif current:
            yield _item(current)
            current = []
    if current:
        yield _item(current)


def _item(lines: list[str]) -> _Item:
    match = _ITEM.match(" ".join(lines))
    assert match is not None
    return _Item(match[1], " ".join((match[2] or "").split()))


def _read_known_arguments(text: str) -> dict[str, tuple[str, ...]]:
    """Return the keywords listed after "Known valid arguments for ... option:"."""
    keywords: dict[str, tuple[str, ...]] = {}
    lines = text.splitlines()
    for heading, values in itertools.pairwise(lines):
        match = _KNOWN.match(heading)
        if match:
            keywords[match[1]] = tuple(values.split())
    return keywords


def _level_names(names: Iterable[str]) -> tuple[str, ...]:
    levels: list[str] = []
    for name in names:
        if name == "-O<number>":
            levels += ["0", "1", "2", "3"]
        elif re.fullmatch(r"-O[a-z]+", name):
            levels.append(name[2:])
    return tuple(dict.fromkeys(levels))


def _flag_option(text: str, value: str, words: dict[str, tuple[str, ...]]) -> Option | None:
    if not text.startswith("-f") or text in _NEEDS_A_FILE or text in _ALIASES:
        return None
    if text.startswith("-falign-"):
        return GccFlagAlignOption(text.partition("=")[0])
    if match := _WORD_CHOICES.match(text):
        return GccFlagEnumOption(match["name"], tuple(match["words"].split("|")))
    if match := _RANGE.match(text):
        bounds = max(int(match["low"]), 0), int(match["high"])
        return GccFlagIntOption(match["name"], *bounds, _integer(value))
    if match := _NUMBER_OPTION.match(text):
        return _make_numbered(match["name"], _integer(value))
    if text.endswith("="):
        if text not in words and _integer(value) is not None:
            return _make_numbered(text, _integer(value))
        return GccFlagEnumOption(text, words.get(text, (_ASKED,)))
    return GccFlagOption(text)


def _make_numbered(name: str, default: int | None) -> Option:
    if name in _POWERS_OF_TWO:
        return GccFlagEnumOption(name, _POWERS_OF_TWO[name])
    return GccFlagIntOption(name, *_BOUNDED.get(name, (0, MOST)), default)


def _param(text: str, value: str, words: dict[str, tuple[str, ...]]) -> Option | None:
    if match := _WORD_CHOICES.match(text):
        return GccParamEnumOption(match["name"], tuple(match["words"].split("|")))
    if match := _RANGE.match(text):
        # A range can start below 0, but no version accepts a negative number.
        bounds = max(int(match["low"]), 0), int(match["high"])
        return GccParamIntOption(match["name"], *bounds, _integer(value))
    name = match["name"] if (match := _NUMBER_OPTION.match(text)) else text
    if not name.endswith("="):
        return None
    if name in words:
        return GccParamEnumOption(name, words[name])
    return GccParamIntOption(name, 0, MOST, _integer(value))


def _old_param(item: _Item) -> Option | None:
    match = _BOUNDS.match(item.rest)
    name = f"--param={item.text}="
    if match is None or match["low"] is None:
        return None
    low, high = max(int(match["low"]), 0), int(match["high"])
    # In these versions, a maximum below the minimum means no maximum.
    return GccParamIntOption(name, low, high if high > low else MOST, _integer(match["default"]))


def _integer(text: str) -> int | None:
    return int(text, 0) if re.fullmatch(r"-?(?:0x[\da-f]+|[1-9]\d*|0)", text) else None
