# SPDX-License-Identifier: MIT
"""The options of LLVM's code generator, read from a table, and the syntax of a choice.

``codegen.tsv`` lists options of ``llc`` with the values that are offered beside their default,
and what ``python -m scripts.codegen_effects`` measured of each. The engine is built with the same
table: no module can name another option. A choice is the pass ``codegen<name=value>`` in a
pipeline, and ``--name=value`` on the command line of ``llc``. Nothing is compiled here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from compiler_gym.errors import InvalidActionError
from compiler_gym.session import FlagSpec

__all__ = [
    "DEFAULT",
    "OPTIONS",
    "CodegenOption",
    "find_numbers",
    "flags",
    "fold_choices",
    "is_choice",
    "llc_words",
    "read_gains",
    "read_llc",
    "split_choices",
    "write_pipeline",
]

DEFAULT = "default"
"""The value that leaves an option as LLVM has it."""

_PASS, _END = "codegen<", ">"
_NO_OPTIONS = ("-filetype=obj", "--filetype=obj")


@dataclass(frozen=True, slots=True)
class CodegenOption:
    """An option of ``llc``."""

    name: str
    """As ``llc`` spells it, without dashes."""
    values: tuple[str, ...]
    """What it can be set to; the first is `DEFAULT`."""
    tier: str
    """``core`` where a value made some program smaller, ``rare`` where none did."""
    description: str
    gains: tuple[float, ...] = ()
    """The mean change of text in per cent that each value but the default brought, as measured."""


@cache
def _codegen_options() -> tuple[CodegenOption, ...]:
    text = files("compiler_gym.envs.llvm").joinpath("codegen.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and line[0] != "#"][1:]
    return tuple(
        CodegenOption(
            name,
            (DEFAULT, *values.split("|")),
            tier,
            description,
            tuple(map(float, mean.split("|"))),
        )
        for name, values, tier, mean, *_, description in rows
    )


OPTIONS: tuple[CodegenOption, ...] = _codegen_options()
"""Every option, in the order of the action space ``Codegen``."""

_NUMBER_OF_OPTION = {option.name: number for number, option in enumerate(OPTIONS)}


def read_gains(name: str) -> tuple[float, ...]:
    """Return the mean change of text in per cent that each value brought, 0 for the default."""
    return (0.0, *OPTIONS[_option_number(name)].gains)


def flags() -> tuple[tuple[FlagSpec, ...], tuple[int, ...]]:
    """Return an action for each value of each option, and the number of the option it sets."""
    items: list[FlagSpec] = []
    sets: list[int] = []
    for number, option in enumerate(OPTIONS):
        for value in option.values:
            name = f"{option.name}={value}"
            items.append(FlagSpec(name, f"{_PASS}{name}{_END}", _meaning(option, value)))
            sets.append(number)
    return tuple(items), tuple(sets)


def _meaning(option: CodegenOption, value: str) -> str:
    if value == DEFAULT:
        return f"Left to LLVM: {option.description[0].lower()}{option.description[1:]}"
    return f"{option.description}: {value}"


def write_pipeline(numbers: Sequence[int]) -> str:
    """Return the pipeline that sets every option to the value of its number, 0 for its default.

    Raises `InvalidActionError` for anything but one such number for each option.

    >>> write_pipeline([0] * len(OPTIONS))
    'codegen<reset>'
    """
    if len(numbers) != len(OPTIONS):
        raise InvalidActionError(
            f"expected {len(OPTIONS)} numbers, one for each option, found {len(numbers)}"
        )
    texts = ["reset"]
    for option, number in zip(OPTIONS, numbers, strict=True):
        if type(number) is not int or not 0 <= number < len(option.values):
            raise InvalidActionError(
                f"expected a number from 0 to {len(option.values) - 1} for {option.name}, "
                f"found {number!r}"
            )
        if number:
            texts.append(f"{option.name}={option.values[number]}")
    return f"{_PASS}{';'.join(texts)}{_END}"


def find_numbers(chosen: Mapping[str, str]) -> list[int]:
    """Return the number of the value of each option, 0 where `chosen` does not name it.

    Raises `InvalidActionError` for an option or a value that is not offered.
    """
    numbers = [0] * len(OPTIONS)
    for name, value in chosen.items():
        at = _option_number(name)
        if value not in OPTIONS[at].values:
            raise InvalidActionError(
                f"{value!r} is no value of {name}: expected one of {', '.join(OPTIONS[at].values)}"
            )
        numbers[at] = OPTIONS[at].values.index(value)
    return numbers


def split_choices(pipelines: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the passes among `pipelines`, and what the choices among them come to.

    A pass neither sees a choice nor changes one, so that they may be told apart.

    >>> split_choices(["dce", "codegen<regalloc=basic>", "codegen<regalloc=default>"])
    (['dce'], {})
    """
    passes: list[str] = []
    chosen: dict[str, str] = {}
    for text in pipelines:
        if not text.startswith(_PASS):
            passes.append(text)
            continue
        chosen = fold_choices(chosen, text.removeprefix(_PASS).removesuffix(_END).split(";"))
    return passes, chosen


def is_choice(pipeline: str) -> bool:
    """Return whether a pipeline sets options and runs no pass.

    >>> is_choice("codegen<regalloc=basic>"), is_choice("function(dce)")
    (True, False)
    """
    return pipeline.startswith(_PASS)


def fold_choices(chosen: Mapping[str, str], texts: Iterable[str]) -> dict[str, str]:
    """Return `chosen` after the choices `texts`; sorted, and without defaults."""
    found = dict(chosen)
    for text in texts:
        if text == "reset":
            found.clear()
            continue
        name, _, value = text.partition("=")
        found[name] = value
    return {name: found[name] for name in sorted(found) if found[name] != DEFAULT}


def llc_words(chosen: Mapping[str, str]) -> list[str]:
    """Return `chosen` as words of a command line of ``llc``.

    >>> llc_words({"regalloc": "basic"})
    ['--regalloc=basic']
    """
    return [f"--{name}={value}" for name, value in sorted(chosen.items())]


def read_llc(words: Iterable[str]) -> dict[str, str]:
    """Return what the words of a command line of ``llc`` choose, its files left out.

    Raises `InvalidActionError` for an option or a value that is not offered.

    >>> read_llc(["-filetype=obj", "--regalloc=basic", "-o", "output.o"])
    {'regalloc': 'basic'}
    """
    chosen: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word == "-o":
            next(rest, None)
        elif word.startswith("-") and word != "-" and word not in _NO_OPTIONS:
            name, _, value = word.lstrip("-").partition("=")
            chosen[name] = value
    find_numbers(chosen)
    return chosen


def _option_number(name: str) -> int:
    if name not in _NUMBER_OF_OPTION:
        raise InvalidActionError(
            f"{name!r} is no option of the code generator that can be chosen: see the actions of "
            "CodegenOptions"
        )
    return _NUMBER_OF_OPTION[name]
