# SPDX-License-Identifier: MIT
"""Mutate known cases of a program while keeping their structure.

Nothing is run here, so a program may reject a case. File names stay as they are and no argument
becomes a path, so a case reaches only the files that its parent does.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler_gym.datasets import RunCase
from compiler_gym.validation.mutation.contents import (
    MOST_BYTES,
    mutate_contents,
    mutate_number,
)
from compiler_gym.validation.mutation.draw import Draw

__all__ = ["CaseMutator", "is_mutable"]

_MOST_ARGUMENTS = 24
_DEPTH = 4
_OPTION = re.compile(r"--?[A-Za-z0-9][\w=-]*")
_Files = Mapping[str, bytes | Path]


@dataclass(frozen=True, slots=True)
class CaseMutator:
    """Deterministic generator: equal cases, tokens and seed give equal cases on every machine.

    >>> mutator = CaseMutator([RunCase(("7",), stdin=b"1 2\\n")])
    >>> mutator.mutate(mutator.known[0], 3) == mutator.mutate(mutator.known[0], 3)
    True
    """

    known: Sequence[RunCase]
    """Cases whose parts are combined."""
    tokens: Sequence[bytes] = ()
    """Byte strings with a meaning to the program: its texts, the numbers it compares with."""
    seed: int = 0
    _options: list[str] = field(default_factory=list[str], init=False)

    def __post_init__(self) -> None:
        arguments = [word for case in self.known for word in case.argv if _is_free(word, case)]
        texts = [token.decode("ascii", "ignore") for token in self.tokens]
        options = [text for text in texts if _OPTION.fullmatch(text)]
        self._options.extend(dict.fromkeys((*arguments, *options)))

    def mutate(self, parent: RunCase, number: int) -> RunCase:
        """Return case `number`, made from `parent` with one to four changes."""
        draw = Draw(f"{self.seed} {number}")
        case = parent
        for _ in range(1 + draw.below(_DEPTH)):
            case = self._change(case, draw)
        names = (word for word in case.argv if _is_name(word))
        return replace(
            case,
            name=f"generated/{number}",
            size="generated",
            expected=None,
            outputs=tuple(dict.fromkeys((*parent.outputs, *case.files, *names))),
        )

    def _change(self, case: RunCase, draw: Draw) -> RunCase:
        parts = [name for name, content in case.files.items() if _length(content) <= MOST_BYTES]
        changes = ["argv"] if case.argv or self._options else []
        changes += ["file"] * 3 if parts else []
        changes += ["stdin"] * 3 if case.stdin else []
        changes += [] if parts or case.stdin else ["argv"] * len(changes)
        if not changes:
            return case
        match draw.choice(changes):
            case "argv":
                return replace(case, argv=self._arguments(case, draw))
            case "file":
                return replace(case, files=self._files(case.files, draw.choice(parts), draw))
            case _:
                tokens = self._borrow(draw, [other.stdin for other in self.known])
                return replace(case, stdin=mutate_contents(case.stdin, draw, tokens))

    def _files(self, files: _Files, name: str, draw: Draw) -> _Files:
        """Return `files` with a different content of `name`, or rarely without that file."""
        if draw.below(24) == 0:
            return {other: content for other, content in files.items() if other != name}
        contents = [_read_content(case.files[name]) for case in self.known if name in case.files]
        if contents and draw.below(12) == 0:
            return {**files, name: draw.choice(contents)[:MOST_BYTES]}
        changed = mutate_contents(_read_content(files[name]), draw, self._borrow(draw, contents))
        return {**files, name: changed}

    def _borrow(self, draw: Draw, contents: Sequence[bytes]) -> list[bytes]:
        """Return the tokens and a part of one of `contents`."""
        parts: list[bytes] = []
        if contents:
            other = draw.choice(contents)
            start, end = draw.span(min(len(other), MOST_BYTES), 256)
            parts = [other[start:end]]
        return [*self.tokens, *parts * (1 + len(self.tokens) // 2)]

    def _arguments(self, case: RunCase, draw: Draw) -> tuple[str, ...]:
        """Return the arguments with a number, an option or their order changed."""
        args = list(case.argv)
        free = [i for i, word in enumerate(args) if _is_free(word, case)]
        numbers = [i for i in free if any(c.isdigit() for c in args[i])]
        if numbers and draw.below(2):
            at = draw.choice(numbers)
            args[at] = os.fsdecode(mutate_number(os.fsencode(args[at]), draw))
            return tuple(args)
        match draw.below(5):
            case 0 if self._options:
                args.insert(draw.below(len(args) + 1), draw.choice(self._options))
            case 1 if free and self._options:
                args[draw.choice(free)] = draw.choice(self._options)
            case 2 if free:
                del args[draw.choice(free)]
            case 3 if len(args) > 1:
                first, second = draw.below(len(args)), draw.below(len(args))
                args[first], args[second] = args[second], args[first]
            case _:
                args = _borrow_options(draw.choice(self.known), case) if self.known else args
        return tuple(args[:_MOST_ARGUMENTS])


def is_mutable(case: RunCase) -> bool:
    """Return True if `case` has anything to change."""
    return bool(case.argv or case.stdin or case.files)


def _borrow_options(other: RunCase, case: RunCase) -> list[str]:
    """Return the options of `other` with the file names of `case`."""
    names = [word for word in case.argv if not _is_free(word, case)]
    return [word for word in other.argv if _is_free(word, other)] + names


def _is_free(word: str, case: RunCase) -> bool:
    """Return True if `word` names no file, so that another argument can replace it."""
    return word not in case.files and word not in case.outputs and not _is_path(word)


def _is_path(word: str) -> bool:
    return "/" in word or "{dir}" in word or ".." in word


def _is_name(word: str) -> bool:
    """Return True if a program might write a file of this name in its directory."""
    return bool(word) and not word.startswith("-") and not _is_path(word) and len(word) < 128


def _length(content: bytes | Path) -> int:
    return content.stat().st_size if isinstance(content, Path) else len(content)


def _read_content(content: bytes | Path) -> bytes:
    return content.read_bytes() if isinstance(content, Path) else content
