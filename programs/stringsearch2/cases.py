# SPDX-License-Identifier: MIT
"""Inputs of stringsearch2: prose with accents and capitals, every search, and bad patterns."""

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 30, "small": 4, "ref": 2}

ALGORITHMS = (
    *("horspool", "raita", "sunday", "smith", "tuned", "zhu-takaoka"),
    *("berry-ravindran", "optimal-mismatch", "maximal-shift", "all"),
)
MODES = ((), ("-i",), ("-A",), ("-A", "-w"), ("-i", "-l"), ("-w", "-l", "-c"))
PASSES = {"small": "1", "ref": "10"}
ACCENTED = {"a": "àáâãäå", "c": "ç", "e": "èéêë", "i": "ìíîï", "n": "ñ", "o": "òóôõöø", "u": "ùúûü"}


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of stringsearch2."""
    if size != "test":
        text = _accented(prose(rng, 200_000), rng)
        mode = ("-A",) if index % 2 else ("-i", "-w")
        return _case(_cut(text, 12, rng), text, ("-a", "all", *mode, "-c", "-n", PASSES[size]))
    text = _accented(prose(rng, rng.choice((0, 40, 900, 15_000))), rng)
    if index == 0:
        return _case([b"word", b""], text, ())
    if index == 1:
        return _case([b"a", b"x" * 129], text, ("-i",))
    if index == 2:
        return _case([b"a"], text, ("-a", "none"))
    options = ("-a", ALGORITHMS[index % len(ALGORITHMS)], *MODES[index % len(MODES)])
    if index % 5 == 3:
        text = (text[:4] * 2000)[: rng.between(1, 3000)]
    return _case(_cut(text, rng.between(1, 10), rng), text, options)


def _case(patterns: list[bytes], text: bytes, options: tuple[str, ...]) -> Case:
    lines = b"".join(pattern + b"\n" for pattern in patterns)
    return Case({"patterns": lines, "text": text}, (*options, "patterns", "text"))


def _cut(text: bytes, count: int, rng: Random) -> list[bytes]:
    """Return words and pieces of `text`, some with another case, and some not in it."""
    words = text.split() or [b"none"]
    pieces = []
    for _ in range(count):
        start = rng.below(len(text) + 1)
        piece = text[start : start + rng.between(1, 30)].replace(b"\n", b" ")
        piece = rng.choice((rng.choice(words), piece, rng.choice(words).upper()))
        pieces.append(piece[:128] + (b"~" if rng.chance(1, 6) else b"") or b"?")
    return [piece[:128] for piece in pieces]


def _accented(text: bytes, rng: Random) -> bytes:
    letters = [
        rng.choice(ACCENTED[letter]) if letter in ACCENTED and rng.chance(1, 8) else letter
        for letter in text.decode()
    ]
    return "".join(letters).encode("latin-1")
