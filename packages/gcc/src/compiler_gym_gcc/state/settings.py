# SPDX-License-Identifier: MIT
"""The choices of an episode, one index for each option or -1 for its default, as a command line.

The same functions serve the worker, which compiles with a command line, and the client, which
writes and reads one. Nothing is run here.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import index
from typing import SupportsIndex

from compiler_gym.builds import is_file_name, split_command
from compiler_gym.errors import InvalidActionError
from compiler_gym_gcc.actions.options import ABSENT, Option

__all__ = ["CommandReader", "Settings", "check_choices", "command_line", "make_words"]

_QUIET = "-w"
_PENDING = "# choosing "
_COMPILER = re.compile(r"gcc|g\+\+|(^|[^a-z])c(c|\+\+)([^a-z]|$)")
_WITH_VALUE = ("-x", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "--param")
_RUN_OTHERS = ("-fplugin", "-wrapper", "-specs", "--specs", "-B", "-o")


class Settings:
    """The choices of an episode for the options of a compiler.

    After changing `choices`, call `reset_words`, because `words` are cached.
    """

    def __init__(self, options: Sequence[Option]) -> None:
        self.options = options
        """The options of the compiler."""
        self.choices = [ABSENT] * len(options)
        """The index of the chosen setting of each option."""
        self.pending: int | None = None
        """The option whose value must be chosen next, if any."""
        self._words: list[str] | None = []

    @classmethod
    def alone(cls, word: str) -> "Settings":
        """Return settings that consist only of `word`.

        >>> Settings.alone("-Os").words
        ['-Os']
        """
        settings = cls(())
        settings._words = [word]
        return settings

    @property
    def words(self) -> list[str]:
        """The chosen settings, as arguments of a command line."""
        if self._words is None:
            self._words = make_words(self.options, self.choices)
        return self._words

    def reset_words(self) -> None:
        """Compute `words` again from `choices` on next use."""
        self._words = None


def check_choices(choices: Iterable[SupportsIndex], options: Sequence[Option]) -> list[int]:
    """Return `choices` as integers; raise `InvalidActionError` if they are not valid.

    >>> from compiler_gym_gcc.actions.options import GccFlagOption
    >>> check_choices([1], [GccFlagOption("-fgcse")])
    [1]
    """
    try:
        numbers = [index(choice) for choice in choices]
    except TypeError as error:
        raise InvalidActionError(
            f"choices must be {len(options)} whole numbers, one for each option ({error})"
        ) from None
    if len(numbers) != len(options):
        raise InvalidActionError(
            f"there must be {len(options)} choices, one for each option (got {len(numbers)})"
        )
    for option, choice in zip(options, numbers, strict=True):
        if not ABSENT <= choice < len(option):
            raise InvalidActionError(
                f"the choice for {option} must be from -1 to {len(option) - 1} (got {choice})"
            )
    return numbers


def make_words(options: Sequence[Option], choices: Sequence[int]) -> list[str]:
    """Return the settings that `choices` select, as arguments of a command line."""
    return [options[i][choice] for i, choice in enumerate(choices) if choice >= 0]


def command_line(
    program: str,
    words: Iterable[str],
    flags: Iterable[str] = (),
    *,
    suffix: str = ".i",
    pending: str | None = None,
) -> str:
    """Return the command that compiles the preprocessed source with the settings `words`.

    `flags` are those that the program needs, such as ``-std=c11``; `pending` is the option whose
    value must be chosen next, if any.

        >>> command_line("gcc-12", ["-O2"])
        'gcc-12 -O2 -w -c src.i -o obj.o'
    """
    text = shlex.join([program, *words, _QUIET, *flags, "-c", f"src{suffix}", "-o", "obj.o"])
    return text if pending is None else f"{text} {_PENDING}{pending}"


@dataclass(frozen=True, slots=True)
class CommandReader:
    """Reads choices back from a command line."""

    options: Sequence[Option]
    program: str = ""
    """The compiler's name, if it does not look like one."""

    def read(self, text: str) -> tuple[list[int], str | None]:
        """Return the choices in `text` and the option whose value is pending, if any.

        A later setting of an option replaces an earlier one, as it does for the compiler. Raises
        `InvalidActionError` for an argument that is not a setting of any option, and for anything
        that is not part of a single compiler command.
        """
        words = split_command(text)
        pending = self._pending(words)
        if words and not words[0].startswith("-"):
            self._require_compiler(words.pop(0))
        if _QUIET in words:
            at = words.index(_QUIET)
            _require_one_input(words[at + 1 :])
            words = words[:at]
        choices = [ABSENT] * len(self.options)
        for word in _join_params(words):
            at, index = self.find(word)
            choices[at] = index
        return choices, pending

    def find(self, word: str) -> tuple[int, int]:
        """Return the number of the option that has the setting `word`, and its index there."""
        for at, option in enumerate(self.options):
            # Comparing names first is cheaper than comparing settings.
            if (
                not word.startswith((option.name.rstrip("="), "-fno-"))
                and option.name[:5] != "-fno-"
            ):
                continue
            try:
                return at, option.index(word)
            except ValueError:
                continue
        raise InvalidActionError(
            f"{word!r} is not a setting of this compiler; env.gcc_spec.options lists all"
        )

    def _pending(self, words: list[str]) -> str | None:
        """Remove the pending option from the end of `words` and return it."""
        if words[-3:-1] != _PENDING.split():
            return None
        name = words[-1]
        if all(option.name != name for option in self.options):
            raise InvalidActionError(f"no option {name!r}; env.gcc_spec.options lists all")
        del words[-3:]
        return name

    def _require_compiler(self, word: str) -> None:
        if word != self.program and not (is_file_name(word) and _COMPILER.search(word)):
            raise InvalidActionError(
                f"{word!r} is not a compiler; write a command line such as "
                "gcc-12 -O2 -w -c src.i -o obj.o"
            )


def _require_one_input(words: Sequence[str]) -> None:
    """Raise an error unless `words` are flags of a program, one input file and one output file."""
    end = words.index("-c") if "-c" in words else len(words)
    flags, files = words[:end], words[end:]
    for before, word in pairwise(["", *flags]):
        if not word.startswith("-") and before not in _WITH_VALUE:
            raise _unexpected(word)
        if word.startswith(_RUN_OTHERS):
            raise InvalidActionError(f"{word!r} could run another program; remove this option")
    if not files:
        return
    expected = files[0] == "-c" and len(files) == 4 and files[2] == "-o"
    if not expected or not is_file_name(files[1]) or not is_file_name(files[3]):
        raise _unexpected(" ".join(files))


def _unexpected(text: str) -> InvalidActionError:
    return InvalidActionError(
        f"{text[:200]!r} does not belong in the command: after the settings, only -w, the flags "
        "of the program and -c FILE -o FILE can follow"
    )


def _join_params(words: Sequence[str]) -> list[str]:
    """Return `words` with ``--param x=1`` joined into one argument."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "--param":
            joined[-1] = f"--param={word}"
        else:
            joined.append("-O1" if word == "-O" else word)
    return joined
