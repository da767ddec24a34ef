# SPDX-License-Identifier: MIT
"""Write and parse commands of ``opt`` and ``llc``."""

import re
import shlex
from collections.abc import Iterable, Sequence

from compiler_gym.builds.compilation_database import is_file_name
from compiler_gym.errors import InvalidActionError

__all__ = [
    "CLEAR",
    "is_llc",
    "is_opt",
    "join_pipelines",
    "llc_command",
    "opt_command",
    "opt_parts",
    "split_passes",
    "split_pipeline",
]

CLEAR = "invalidate<all>"
"""The pass that runs between two actions: episodes clear all analyses after each action."""

_OPT = re.compile(r"opt(-[\d.]+)?")
_LLC = re.compile(r"llc(-[\d.]+)?")
_PLUGIN = re.compile(r"--?load-pass-plugin=")
_NO_ACTION = (
    *("-S", "-discard-value-names", "--discard-value-names"),
    *("-preserve-bc-uselistorder", "--preserve-bc-uselistorder"),
)
"""Options of ``opt`` that are not actions."""


def split_pipeline(text: str) -> list[str]:
    """Return the parts of a pass pipeline: split at commas outside brackets.

    >>> split_pipeline("function(sroa<a;b>,dce),globaldce")
    ['function(sroa<a;b>,dce)', 'globaldce']
    """
    parts: list[str] = []
    depth, start = 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def split_passes(text: str) -> list[str]:
    """Return the actions of a pass pipeline: its parts without `CLEAR`."""
    return [part for part in split_pipeline(text) if part != CLEAR]


def join_pipelines(pipelines: Iterable[str]) -> str:
    """Return one pipeline that is equivalent to several actions of an episode."""
    return f",{CLEAR},".join(pipelines)


def opt_command(
    pipeline: str,
    program: str,
    output: str = "output.bc",
    *,
    options: Sequence[tuple[str, str]] = (),
    keeps_use_lists: bool = False,
) -> str:
    """Return the shell command that runs `pipeline` on `program`, which is already quoted.

    As in an episode, value names are discarded. Set `keeps_use_lists` if another ``opt`` reads the
    output; otherwise it could see uses in a different order.
    """
    words = [
        "opt -discard-value-names",
        *(["-preserve-bc-uselistorder"] if keeps_use_lists else []),
        *(shlex.quote(f"-{name}={value}") for name, value in options),
        *([f"-passes={shlex.quote(pipeline)}"] if pipeline else []),
        program,
        f"-o {output}",
    ]
    return " ".join(words)


def llc_command(words: Iterable[str]) -> str:
    """Return the command that compiles standard input to an object file with options `words`."""
    return f"{shlex.join(['llc', '-filetype=obj', *words])} -o output.o"


def is_opt(word: str) -> bool:
    """Return whether `word` is the name of ``opt`` in any version."""
    return _OPT.fullmatch(word) is not None


def is_llc(word: str) -> bool:
    """Return whether `word` is the name of ``llc`` in any version."""
    return _LLC.fullmatch(word) is not None


def opt_parts(words: Iterable[str]) -> list[str]:
    """Return the actions in the arguments of ``opt``: passes, and options with their dash.

    CompilerGym 0.2.5 has an option for each pass: ``opt -mem2reg``. Besides actions, the arguments
    can contain only one input file and one output file; anything else raises `InvalidActionError`.
    """
    parts: list[str] = []
    arguments = iter(words)
    files = {"reads": "", "writes": ""}
    for word in arguments:
        if word.lstrip("-").startswith("passes="):
            parts += split_passes(word.partition("=")[2])
        elif word.startswith("-") and word not in ("-", "-o"):
            parts += [word] if word not in _NO_ACTION and not _PLUGIN.match(word) else []
        else:
            use, name = ("writes", next(arguments, "")) if word == "-o" else ("reads", word)
            if files[use] or not is_file_name(name):
                raise InvalidActionError(
                    f"{name!r} is neither an action nor the file that opt {use}; write the "
                    "command as opt, its passes, an input file, and -o with an output file"
                )
            files[use] = name
    return parts
