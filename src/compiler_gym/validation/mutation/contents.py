# SPDX-License-Identifier: MIT
"""Mutate file contents: text by lines, words and numbers, other data by bytes and fields."""

import re
from collections.abc import Callable, Sequence

from compiler_gym.validation.mutation.draw import Draw

__all__ = ["MOST_BYTES", "is_text", "mutate_contents", "mutate_number"]

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
