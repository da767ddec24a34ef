# SPDX-License-Identifier: MIT
"""One index for each option, or -1 to leave it to the compiler; and its command line.

The same functions serve the worker, which compiles with a command line, and the
client, which shows and reads one. Nothing is run here.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import index
from typing import SupportsIndex

from compiler_gym.builds.command_words import is_file_name, split_command
from compiler_gym.envs.gcc.actions.options import ABSENT, Option
from compiler_gym.errors import InvalidActionError

__all__ = ["CommandReader", "Settings", "check_choices", "command_line", "make_words"]

_QUIET = "-w"
_PENDING = "# choosing "
_COMPILER = re.compile(r"gcc|g\+\+|(^|[^a-z])c(c|\+\+)([^a-z]|$)")
_WITH_VALUE = ("-x", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "--param")
_RUN_OTHERS = ("-fplugin", "-wrapper", "-specs", "--specs", "-B", "-o")


class Settings:
    """What an episode has chosen of the options of a compiler.

    Whoever changes `choices` says so with `changed`, because `words` are kept.
    """

    def __init__(self, options: Sequence[Option]) -> None:
        self.options = options
        """The options of the compiler."""
        self.choices = [ABSENT] * len(options)
        """One index for each option."""
        self.pending: int | None = None
        """The option whose value is to be chosen next, if there is one."""
        self._words: list[str] | None = []

    @classmethod
    def alone(cls, word: str) -> "Settings":
        """Return the settings that are `word` and nothing else.

        >>> Settings.alone("-Os").words
        ['-Os']
        """
        found = cls(())
        found._words = [word]
        return found

    @property
    def words(self) -> list[str]:
        """The settings that are chosen, as words of a command line."""
        if self._words is None:
            self._words = make_words(self.options, self.choices)
        return self._words

    def reset_words(self) -> None:
        """Read `choices` anew when the words are asked for."""
        self._words = None


def check_choices(choices: Iterable[SupportsIndex], options: Sequence[Option]) -> list[int]:
    """Return `choices` as integers; raise `InvalidActionError` if they are none of `options`.

    >>> from compiler_gym.envs.gcc.actions.options import GccFlagOption
    >>> checked([1], [GccFlagOption("-fgcse")])
    [1]
    """
    try:
        found = [index(choice) for choice in choices]
    except TypeError as error:
        raise InvalidActionError(
            f"expected {len(options)} whole numbers, one for each option ({error})"
        ) from None
    if len(found) != len(options):
        raise InvalidActionError(
            f"expected {len(options)} choices, one for each option, found {len(found)}"
        )
    for option, choice in zip(options, found, strict=True):
        if not ABSENT <= choice < len(option):
            raise InvalidActionError(
                f"expected a choice from -1 to {len(option) - 1} for {option}, found {choice}"
            )
    return found


def make_words(options: Sequence[Option], choices: Sequence[int]) -> list[str]:
    """Return the settings that `choices` choose, as words of a command line."""
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

    `flags` are what the program needs, such as ``-std=c11``; `pending` is the option
    whose value is to be chosen next, if there is one.

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
    """The compiler's own name, where it does not look like one."""

    def read(self, text: str) -> tuple[list[int], str | None]:
        """Return the choices in `text` and the option whose value is pending, if any.

        A later setting of an option replaces an earlier one, as for the compiler.
        Raises `InvalidActionError` for a word that is no setting of any option, and for
        anything that is not part of the one command of a compiler.
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
            # The name tells most apart without a look at the settings.
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
            f"{word!r} is not a setting of this compiler: see env.gcc_spec.options"
        )

    def _pending(self, words: list[str]) -> str | None:
        """Take the option whose value is pending off the end of `words`."""
        if words[-3:-1] != _PENDING.split():
            return None
        name = words[-1]
        if all(option.name != name for option in self.options):
            raise InvalidActionError(f"no option is called {name!r}: see env.gcc_spec.options")
        del words[-3:]
        return name

    def _require_compiler(self, word: str) -> None:
        if word != self.program and not (is_file_name(word) and _COMPILER.search(word)):
            raise InvalidActionError(
                f"{word!r} is no compiler: expected a command line such as "
                "gcc-12 -O2 -w -c src.i -o obj.o"
            )


def _require_one_input(words: Sequence[str]) -> None:
    """Raise unless `words` are what a program needs, one file to read and one to write."""
    end = words.index("-c") if "-c" in words else len(words)
    flags, files = words[:end], words[end:]
    for before, word in pairwise(["", *flags]):
        if not word.startswith("-") and before not in _WITH_VALUE:
            raise _behind(word)
        if word.startswith(_RUN_OTHERS):
            raise InvalidActionError(f"{word!r} runs another program: expected a command without")
    if not files:
        return
    expected = files[0] == "-c" and len(files) == 4 and files[2] == "-o"
    if not expected or not is_file_name(files[1]) or not is_file_name(files[3]):
        raise _behind(" ".join(files))


def _behind(text: str) -> InvalidActionError:
    return InvalidActionError(
        f"{text[:200]!r} is not part of a compiler's command: expected -w, the flags of the "
        "program, -c FILE -o FILE, and nothing behind"
    )


def _join_params(words: Sequence[str]) -> list[str]:
    """Return `words` with ``--param x=1`` written as one."""
    found: list[str] = []
    for word in words:
        if found and found[-1] == "--param":
            found[-1] = f"--param={word}"
        else:
            found.append("-O1" if word == "-O" else word)
    return found
