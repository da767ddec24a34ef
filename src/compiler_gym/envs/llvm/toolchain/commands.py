# SPDX-License-Identifier: MIT
"""Commands of ``opt`` and ``llc``, written and read. What a pass means is not known here."""

import re
import shlex
from collections.abc import Iterable, Sequence

from compiler_gym.builds.command_words import is_file_name
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
"""What runs between two actions: an episode keeps no analysis, so each sees the program alone."""

_OPT = re.compile(r"opt(-[\d.]+)?")
_LLC = re.compile(r"llc(-[\d.]+)?")
_PLUGIN = re.compile(r"--?load-pass-plugin=")
_NO_ACTION = (
    *("-S", "-discard-value-names", "--discard-value-names"),
    *("-preserve-bc-uselistorder", "--preserve-bc-uselistorder"),
)
"""Options of ``opt`` that are no action."""


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
    """Return the actions of a pass pipeline: its parts without what runs between them."""
    return [part for part in split_pipeline(text) if part != CLEAR]


def join_pipelines(pipelines: Iterable[str]) -> str:
    """Return one pipeline that does what several actions do in an episode."""
    return f",{CLEAR},".join(pipelines)


def opt_command(
    pipeline: str,
    program: str,
    output: str = "output.bc",
    *,
    options: Sequence[tuple[str, str]] = (),
    keeps_use_lists: bool = False,
) -> str:
    """Return the command that runs `pipeline` on `program`, a word of a shell already.

    Values' names are not kept, as in an episode. `keeps_use_lists` is for output that another
    ``opt`` reads: without, that one could see uses in another order.
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
    """Return the command that makes an object of standard input with the options `words`."""
    return f"{shlex.join(['llc', '-filetype=obj', *words])} -o output.o"


def is_opt(word: str) -> bool:
    """Return whether `word` calls ``opt``, of whatever version."""
    return _OPT.fullmatch(word) is not None


def is_llc(word: str) -> bool:
    """Return whether `word` calls ``llc``, of whatever version."""
    return _LLC.fullmatch(word) is not None


def opt_parts(words: Iterable[str]) -> list[str]:
    """Return the actions that the words behind ``opt`` name: passes, and options with their dash.

    CompilerGym 0.2.5 names each pass by an option: ``opt -mem2reg``. Beside actions there is one
    file that is read and one that is written, and nothing else; otherwise `InvalidActionError`
    is raised.
    """
    parts: list[str] = []
    rest = iter(words)
    files = {"reads": "", "writes": ""}
    for word in rest:
        if word.lstrip("-").startswith("passes="):
            parts += split_passes(word.partition("=")[2])
        elif word.startswith("-") and word not in ("-", "-o"):
            parts += [word] if word not in _NO_ACTION and not _PLUGIN.match(word) else []
        else:
            use, name = ("writes", next(rest, "")) if word == "-o" else ("reads", word)
            if files[use] or not is_file_name(name):
                raise InvalidActionError(
                    f"{name!r} is not an action and not the one file that opt {use}: expected "
                    "opt, its passes, a file, -o and another file, and nothing behind"
                )
            files[use] = name
    return parts
