# SPDX-License-Identifier: MIT
"""The options of LLVM's code generator, read from a table, and the syntax for setting them.

``codegen.tsv`` lists options of ``llc`` with the values offered in addition to the default, and
the effects that ``python -m scripts.codegen_effects`` measured. The engine is built with the same
table, so a module cannot name any other option. A choice is the pass ``codegen<name=value>`` in a
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
"""The value that keeps LLVM's default."""

_PASS, _END = "codegen<", ">"
_NO_OPTIONS = ("-filetype=obj", "--filetype=obj")


@dataclass(frozen=True, slots=True)
class CodegenOption:
    """An option of ``llc``."""

    name: str
    """The spelling of ``llc``, without dashes."""
    values: tuple[str, ...]
    """The values offered; the first is `DEFAULT`."""
    tier: str
    """``core`` if some value made a program smaller, ``rare`` otherwise."""
    description: str
    gains: tuple[float, ...] = ()
    """The measured mean change of the text size, in per cent, for each value but the default."""


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
    """Return the measured mean change of the text size, in per cent, for each value."""
    return (0.0, *OPTIONS[_option_number(name)].gains)


def flags() -> tuple[tuple[FlagSpec, ...], tuple[int, ...]]:
    """Return an action for each value of each option, and the number of the option that it sets."""
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
        return f"LLVM's default: {option.description[0].lower()}{option.description[1:]}"
    return f"{option.description}: {value}"


def write_pipeline(numbers: Sequence[int]) -> str:
    """Return the pipeline that sets every option to the value with its number, 0 for the default.

    Raises `InvalidActionError` unless there is one valid number for each option.

    >>> write_pipeline([0] * len(OPTIONS))
    'codegen<reset>'
    """
    if len(numbers) != len(OPTIONS):
        raise InvalidActionError(
            f"an action has {len(OPTIONS)} numbers, one for each option (got {len(numbers)})"
        )
    texts = ["reset"]
    for option, number in zip(OPTIONS, numbers, strict=True):
        if type(number) is not int or not 0 <= number < len(option.values):
            raise InvalidActionError(
                f"{option.name} must be a number from 0 to {len(option.values) - 1} "
                f"(got {number!r})"
            )
        if number:
            texts.append(f"{option.name}={option.values[number]}")
    return f"{_PASS}{';'.join(texts)}{_END}"


def find_numbers(chosen: Mapping[str, str]) -> list[int]:
    """Return the number of the value of each option; 0 for options that `chosen` does not name.

    Raises `InvalidActionError` for an unknown option or value.
    """
    numbers = [0] * len(OPTIONS)
    for name, value in chosen.items():
        at = _option_number(name)
        values = OPTIONS[at].values
        if value not in values:
            raise InvalidActionError(f"{name} cannot be {value!r}; choose from {', '.join(values)}")
        numbers[at] = values.index(value)
    return numbers


def split_choices(pipelines: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Return the passes among `pipelines`, and the options that its choices set in the end.

    Passes and choices can be separated because neither affects the other.

    >>> split_choices(["dce", "codegen<regalloc=basic>", "codegen<regalloc=default>"])
    (['dce'], {})
    """
    passes: list[str] = []
    options: dict[str, str] = {}
    for text in pipelines:
        if not text.startswith(_PASS):
            passes.append(text)
            continue
        options = fold_choices(options, text.removeprefix(_PASS).removesuffix(_END).split(";"))
    return passes, options


def is_choice(pipeline: str) -> bool:
    """Return whether a pipeline sets options instead of running passes.

    >>> is_choice("codegen<regalloc=basic>"), is_choice("function(dce)")
    (True, False)
    """
    return pipeline.startswith(_PASS)


def fold_choices(chosen: Mapping[str, str], texts: Iterable[str]) -> dict[str, str]:
    """Return `chosen` updated with the choices `texts`: sorted, without defaults."""
    options = dict(chosen)
    for text in texts:
        if text == "reset":
            options.clear()
            continue
        name, _, value = text.partition("=")
        options[name] = value
    return {name: options[name] for name in sorted(options) if options[name] != DEFAULT}


def llc_words(chosen: Mapping[str, str]) -> list[str]:
    """Return `chosen` as options of ``llc``.

    >>> llc_words({"regalloc": "basic"})
    ['--regalloc=basic']
    """
    return [f"--{name}={value}" for name, value in sorted(chosen.items())]


def read_llc(words: Iterable[str]) -> dict[str, str]:
    """Return the choices among the arguments of ``llc``, without its files.

    Raises `InvalidActionError` for an unknown option or value.

    >>> read_llc(["-filetype=obj", "--regalloc=basic", "-o", "output.o"])
    {'regalloc': 'basic'}
    """
    options: dict[str, str] = {}
    arguments = iter(words)
    for word in arguments:
        if word == "-o":
            next(arguments, None)
        elif word.startswith("-") and word != "-" and word not in _NO_OPTIONS:
            name, _, value = word.lstrip("-").partition("=")
            options[name] = value
    find_numbers(options)
    return options


def _option_number(name: str) -> int:
    if name not in _NUMBER_OF_OPTION:
        raise InvalidActionError(
            f"no option {name!r} of the code generator; the action space CodegenOptions lists all"
        )
    return _NUMBER_OF_OPTION[name]
