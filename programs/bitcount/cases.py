# SPDX-License-Identifier: MIT
"""Inputs of bitcount: dense, sparse, extreme and malformed streams of numbers."""

from _cases import Case, Random

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 22, "small": 4, "ref": 2}

EXTREMES = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x55555555, 0xAAAAAAAA, 0x0F0F0F0F)
MALFORMED = (b"12 twelve", b"-5", b"4294967296", b"0x1ffffffff", b"1.5")


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of bitcount."""
    if size != "test":
        numbers = [rng.below(1 << rng.between(1, 32)) for _ in range(2000)]
        return Case({"input": _text(numbers, rng)}, ("-n", _ROUNDS[size], "input"))
    if index < len(MALFORMED):
        return Case({"input": _text(_numbers(index, rng), rng) + MALFORMED[index]}, ("input",))
    text = _text(_numbers(index, rng), rng)
    if index % 6 == 5:
        return Case({}, ("-h", "-"), stdin=text)
    options = (("-h",), ("-n", str(rng.between(1, 5))), ())[index % 3]
    return Case({"input": text}, (*options, "input"))


_ROUNDS = {"small": "170", "ref": "1900"}


def _numbers(index: int, rng: Random) -> list[int]:
    if index == 7:
        return []
    if index == 8:
        return list(EXTREMES)
    count = rng.choice((1, 7, 8, 9, 63, 500, 2000))
    if index % 2:
        return [1 << rng.below(32) for _ in range(count)]
    return [rng.below(1 << 32) for _ in range(count)]


def _text(numbers: list[int], rng: Random) -> bytes:
    words = [f"{n:#x}" if rng.chance(1, 3) else str(n) for n in numbers]
    return "".join(word + rng.choice(("\n", " ", "\t\n")) for word in words).encode()
