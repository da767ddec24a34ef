# SPDX-License-Identifier: MIT
"""Make new cases of a program from those that are known, in ways that keep their structure.

Nothing is run here, and whether a program accepts a case is not asked. Names of files
stay as they are and no word of a command line gets a path, so that no case reaches
another place than those it was made of.
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

_MOST_WORDS = 24
_DEPTH = 4
_OPTION = re.compile(r"--?[A-Za-z0-9][\w=-]*")
_Files = Mapping[str, bytes | Path]


@dataclass(frozen=True, slots=True)
class CaseMutator:
    """Makes the same cases of the same cases, tokens and seed, on every machine.

    >>> mutator = CaseMutator([RunCase(("7",), stdin=b"1 2\\n")])
    >>> mutator.mutated(mutator.known[0], 3) == mutator.mutated(mutator.known[0], 3)
    True
    """

    known: Sequence[RunCase]
    """Cases whose parts are combined."""
    tokens: Sequence[bytes] = ()
    """Words that mean something to the program: its texts, the numbers it compares with."""
    seed: int = 0
    _options: list[str] = field(default_factory=list[str], init=False)

    def __post_init__(self) -> None:
        words = [word for case in self.known for word in case.argv if _is_free(word, case)]
        texts = [token.decode("ascii", "ignore") for token in self.tokens]
        options = [text for text in texts if _OPTION.fullmatch(text)]
        self._options.extend(dict.fromkeys((*words, *options)))

    def mutate(self, parent: RunCase, number: int) -> RunCase:
        """Return case `number`, made of `parent` by one to four changes."""
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
        parts = [name for name, held in case.files.items() if _length(held) <= MOST_BYTES]
        ways = ["argv"] if case.argv or self._options else []
        ways += ["file"] * 3 if parts else []
        ways += ["stdin"] * 3 if case.stdin else []
        ways += [] if parts or case.stdin else ["argv"] * len(ways)
        if not ways:
            return case
        match draw.choice(ways):
            case "argv":
                return replace(case, argv=self._arguments(case, draw))
            case "file":
                return replace(case, files=self._files(case.files, draw.choice(parts), draw))
            case _:
                tokens = self._borrow(draw, [other.stdin for other in self.known])
                return replace(case, stdin=mutate_contents(case.stdin, draw, tokens))

    def _files(self, files: _Files, name: str, draw: Draw) -> _Files:
        """Return `files` with another content of `name`, rarely without it."""
        if draw.below(24) == 0:
            return {other: held for other, held in files.items() if other != name}
        others = [_read_content(case.files[name]) for case in self.known if name in case.files]
        if others and draw.below(12) == 0:
            return {**files, name: draw.choice(others)[:MOST_BYTES]}
        changed = mutate_contents(_read_content(files[name]), draw, self._borrow(draw, others))
        return {**files, name: changed}

    def _borrow(self, draw: Draw, contents: Sequence[bytes]) -> list[bytes]:
        """Return words that mean something, and a part of another content."""
        parts: list[bytes] = []
        if contents:
            other = draw.choice(contents)
            start, end = draw.span(min(len(other), MOST_BYTES), 256)
            parts = [other[start:end]]
        return [*self.tokens, *parts * (1 + len(self.tokens) // 2)]

    def _arguments(self, case: RunCase, draw: Draw) -> tuple[str, ...]:
        """Return the words with a number, an option or the order of them changed."""
        words = list(case.argv)
        free = [i for i, word in enumerate(words) if _is_free(word, case)]
        numbers = [i for i in free if any(c.isdigit() for c in words[i])]
        if numbers and draw.below(2):
            at = draw.choice(numbers)
            words[at] = os.fsdecode(mutate_number(os.fsencode(words[at]), draw))
            return tuple(words)
        match draw.below(5):
            case 0 if self._options:
                words.insert(draw.below(len(words) + 1), draw.choice(self._options))
            case 1 if free and self._options:
                words[draw.choice(free)] = draw.choice(self._options)
            case 2 if free:
                del words[draw.choice(free)]
            case 3 if len(words) > 1:
                one, other = draw.below(len(words)), draw.below(len(words))
                words[one], words[other] = words[other], words[one]
            case _:
                words = _borrow_options(draw.choice(self.known), case) if self.known else words
        return tuple(words[:_MOST_WORDS])


def is_mutable(case: RunCase) -> bool:
    """Return whether `case` has anything that could be changed."""
    return bool(case.argv or case.stdin or case.files)


def _borrow_options(other: RunCase, case: RunCase) -> list[str]:
    """Return the options of `other` with the names of files of `case`."""
    ours = [word for word in case.argv if not _is_free(word, case)]
    return [word for word in other.argv if _is_free(word, other)] + ours


def _is_free(word: str, case: RunCase) -> bool:
    """Return whether `word` names no file, so that it may be another."""
    return word not in case.files and word not in case.outputs and not _is_path(word)


def _is_path(word: str) -> bool:
    return "/" in word or "{dir}" in word or ".." in word


def _is_name(word: str) -> bool:
    """Return whether a program might write a file of this name in its directory."""
    return bool(word) and not word.startswith("-") and not _is_path(word) and len(word) < 128


def _length(held: bytes | Path) -> int:
    return held.stat().st_size if isinstance(held, Path) else len(held)


def _read_content(held: bytes | Path) -> bytes:
    return held.read_bytes() if isinstance(held, Path) else held
