# SPDX-License-Identifier: MIT
"""Inputs of stringsearch: words in prose, periodic patterns, any bytes and bad patterns."""

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 24, "small": 4, "ref": 2}

ALGORITHMS = ("pratt", "boyer-moore", "galil", "turbo", "all")
PASSES = {"small": "5", "ref": "40"}


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of stringsearch."""
    if size != "test":
        patterns, phrases = _periodic(60_000, rng) if index % 2 else _words(150_000, rng)
        return _case(patterns, phrases, ("-a", "all", "-c", "-n", PASSES[size]))
    if index == 0:
        return _case([b"word", b""], prose(rng, 100), ())
    if index == 1:
        return _case([b"x" * 513], prose(rng, 100), ())
    if index == 2:
        return _case([b"word", b"a"], b"", ("-a", "all"))
    options = ("-a", ALGORITHMS[index % 5], *(("-c",) if index % 2 else ()))
    if index == 3:
        return _case([], prose(rng, 100), options)
    make = (_words, _periodic, _bytes)[index % 3]
    patterns, phrases = make(rng.between(100, 20_000), rng)
    return _case(patterns, phrases, options)


def _case(patterns: list[bytes], phrases: bytes, options: tuple[str, ...]) -> Case:
    lines = b"".join(pattern + b"\n" for pattern in patterns)
    return Case({"patterns": lines, "phrases": phrases}, (*options, "patterns", "phrases"))


def _cut(text: bytes, count: int, rng: Random) -> list[bytes]:
    """Return pieces of `text` and some that are not in it."""
    pieces = []
    for _ in range(count):
        start = rng.below(len(text))
        piece = text[start : start + rng.between(1, 20)].replace(b"\n", b" ")
        pieces.append(piece + b"~" if rng.chance(1, 4) else piece)
    return pieces


def _words(length: int, rng: Random) -> tuple[list[bytes], bytes]:
    text = prose(rng, length)
    return _cut(text, 12, rng), text


def _periodic(length: int, rng: Random) -> tuple[list[bytes], bytes]:
    unit = bytes(rng.choice(b"ab") for _ in range(rng.between(1, 6)))
    text = bytearray((unit * length)[:length])
    for _ in range(length // 50):
        text[rng.below(length)] = rng.choice(b"abc\n")
    patterns = [(unit * 9)[: rng.between(1, 8 * len(unit))] for _ in range(4)]
    return [*patterns, *_cut(bytes(text), 4, rng)], bytes(text)


def _bytes(length: int, rng: Random) -> tuple[list[bytes], bytes]:
    text = rng.data(length)
    return [piece[:3].replace(b"\n", b" ") for piece in _cut(text, 10, rng)], text
