# SPDX-License-Identifier: MIT
"""New inputs from existing ones: mutated cases, file contents, and the random decisions for both.

Text is mutated by lines, words and numbers, other data by bytes and fields. Mutated cases keep the
structure of known cases. The decisions are the same on every machine and in every version of
Python.
"""

import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from compiler_gym.datasets import RunCase

_T = TypeVar("_T")


class Draw:
    """Random numbers from the only method of `random` with a guaranteed sequence.

    >>> Draw("a seed").below(1000) == Draw("a seed").below(1000)
    True
    """

    __slots__ = ("_fraction",)

    def __init__(self, seed: str) -> None:
        self._fraction = random.Random(seed).random

    def below(self, limit: int) -> int:
        """Return a number in [0, limit)."""
        return int(self._fraction() * limit)

    def choice(self, items: Sequence[_T]) -> _T:
        """Return one of `items`."""
        return items[self.below(len(items))]

    def span(self, length: int, most: int) -> tuple[int, int]:
        """Return the start and end of a part of `length` items, at most `most`, mostly short."""
        start = self.below(length + 1)
        longest = self.below(min(most, length - start) + 1)
        return start, start + self.below(longest + 1)


MOST_BYTES = 1 << 16
"""Largest size of a mutated file; longer contents are truncated."""

_LOOKED_AT = 512
_PART = 64
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORD = re.compile(rb"\S+")
_EDGES = (0, 1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 99, 100, 127, 128, 129,
          255, 256, 257, 1000, 4095, 4096, 32767, 32768, 65535, 65536, 2**31 - 1)  # fmt: skip
_BYTES = bytes((0, 1, 9, 10, 13, 32, 34, 37, 39, 45, 48, 57, 63, 64, 65, 92, 127, 128, 254, 255))
_CHANGE = Callable[[bytes, Draw, Sequence[bytes]], bytes]


def mutate_contents(data: bytes, draw: Draw, tokens: Sequence[bytes] = ()) -> bytes:
    """Return `data` with one change; `tokens` are words and other contents to borrow from."""
    mutations = _TEXT if is_text(data) and draw.below(4) else _BINARY
    return draw.choice(mutations)(data, draw, tokens)[:MOST_BYTES]


def is_text(data: bytes) -> bool:
    """Return True if `data` begins like text.

    >>> is_text(b"1 2\\n"), is_text(b"II*\\0")
    (True, False)
    """
    start = data[:_LOOKED_AT]
    return start.isascii() and b"\0" not in start


def mutate_number(text: bytes, draw: Draw) -> bytes:
    """Return `text` with one of its decimal numbers changed; unchanged without any."""
    matches = list(_NUMBER.finditer(text))
    if not matches:
        return text
    match = draw.choice(matches)
    return text[: match.start()] + _neighbouring_number(match.group(), draw) + text[match.end() :]


def _neighbouring_number(number: bytes, draw: Draw) -> bytes:
    """Return a neighbour of `number`, a multiple, its negation or the limit of some type."""
    if b"." in number:
        return number[1:] if number.startswith(b"-") else draw.choice([b"-", b"1", b"9"]) + number
    value = int(number[:20])
    near = [value + 1, value - 1, value * 2, value // 2, -value, value + draw.below(16)]
    return b"%d" % draw.choice([*near, *near, draw.choice(_EDGES)])


def _change_lines(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    return b"".join(_rearrange(data.splitlines(keepends=True), draw))


def _change_word(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    matches = list(_WORD.finditer(data))
    if not matches:
        return _insert(data, draw, tokens)
    target, source = draw.choice(matches), draw.choice(matches)
    texts = [source.group(), b"", target.group() * 2, *([draw.choice(tokens)] if tokens else [])]
    return data[: target.start()] + draw.choice(texts) + data[target.end() :]


def _change_number(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    return mutate_number(data, draw)


def _rearrange(parts: list[bytes], draw: Draw) -> list[bytes]:
    """Return `parts` with some removed, repeated, copied or reversed."""
    start, end = draw.span(len(parts), 4)
    some, where = parts[start:end], draw.below(len(parts) + 1)
    match draw.below(4):
        case 0:
            return parts[:start] + parts[end:]
        case 1:
            return parts[:end] + some * (1 + draw.below(4)) + parts[end:]
        case 2:
            return parts[:where] + some + parts[where:]
        case _:
            return parts[:start] + some[::-1] + parts[end:]


def _flip(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    if not data:
        return data
    changed = bytearray(data)
    for _ in range(1 + draw.below(4)):
        changed[_position(data, draw)] ^= 1 << draw.below(8)
    return bytes(changed)


def _set(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    if not data:
        return bytes([draw.choice(_BYTES)])
    at = _position(data, draw)
    value = draw.choice(_BYTES) if draw.below(2) else draw.below(256)
    return data[:at] + bytes([value]) + data[at + 1 :]


def _field(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    """Change an integer of 2 or 4 bytes, of either byte order, as in a file header."""
    width, order = draw.choice(((2, "little"), (2, "big"), (4, "little"), (4, "big")))
    if len(data) < width:
        return _set(data, draw, tokens)
    at = min(_position(data, draw), len(data) - width)
    value = int.from_bytes(data[at : at + width], "little" if order == "little" else "big")
    value = draw.choice([value + 1, value - 1, value * 2, value // 2, draw.choice(_EDGES)])
    value %= 1 << (8 * width)
    return (
        data[:at]
        + value.to_bytes(width, "little" if order == "little" else "big")
        + data[at + width :]
    )


def _truncate(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    return data[: draw.below(len(data) + 1)]


def _repeat_block(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    start, end = draw.span(len(data), _PART)
    where = draw.below(len(data) + 1)
    if draw.below(2):
        return data[:start] + data[end:]
    return data[:where] + data[start:end] * (1 + draw.below(3)) + data[where:]


def _insert(data: bytes, draw: Draw, tokens: Sequence[bytes]) -> bytes:
    token = draw.choice(tokens) if tokens else bytes([draw.choice(_BYTES)])
    at = draw.below(len(data) + 1)
    after = at + (len(token) if draw.below(2) else 0)
    return data[:at] + token + data[after:]


def _position(data: bytes, draw: Draw) -> int:
    """Return a position, half of the time near the beginning: headers matter most."""
    return draw.below(min(len(data), _PART) if draw.below(2) else len(data))


_BINARY: tuple[_CHANGE, ...] = (_flip, _set, _field, _truncate, _repeat_block, _insert)
_TEXT: tuple[_CHANGE, ...] = (
    _change_lines,
    _change_word,
    _change_number,
    _change_number,
    _insert,
    _repeat_block,
    _set,
    _truncate,
)


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
