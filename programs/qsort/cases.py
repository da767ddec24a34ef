# SPDX-License-Identifier: MIT
"""Inputs of qsort: random, sorted, equal and adversarial orders of points and lines."""

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 26, "small": 4, "ref": 2}

OPTIONS = ((), ("-s",), ("-f", "-r"), ("-b", "-c"), ("-s", "-b"), ("-l", "-s"), ("-c", "-n", "3"))
ROUNDS = {"small": "10", "ref": "180"}
MALFORMED = (b"1 2\n", b"1 2 3\nx\n", b"1 2 3 4\n", b"1 2 2000000000\n", b"1 2 3\n\n")


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of qsort."""
    if size != "test":
        content = _lines(8000, rng) if index % 2 else _points(8000, rng)
        kind = ("-s",) if index % 2 else ("-l",) if index == 2 else ()
        return _case(content, (*kind, "-c", "-n", ROUNDS[size]))
    if index < len(MALFORMED):
        return _case(MALFORMED[index], ())
    options = OPTIONS[index % len(OPTIONS)]
    count = (0, 1, 2, 12, 13, 127, 200, 900)[index % 8]
    if "-s" in options or "-f" in options:
        return _case(_lines(count, rng), options)
    return _case(_ordered(index % 4, count, rng), options)


def _case(content: bytes, options: tuple[str, ...]) -> Case:
    return Case({"input": content}, (*options, "input"))


def _ordered(kind: int, count: int, rng: Random) -> bytes:
    if kind == 0:
        return b"".join(b"%d 0 0\n" % i for i in range(count))
    if kind == 1:
        return b"".join(b"0 %d 0\n" % min(i, count - i) for i in range(count))
    if kind == 2:
        return b"".join(b"%d -3 4\n" % rng.below(3) for _ in range(count))
    return _points(count, rng)


def _points(count: int, rng: Random) -> bytes:
    reach = 10 ** rng.between(1, 9)
    rows = ([str(rng.between(-reach, reach)) for _ in "xyz"] for _ in range(count))
    return "".join(" ".join(row) + "\n" for row in rows).encode()


def _lines(count: int, rng: Random) -> bytes:
    words = prose(rng, count * 12 + 200).split()
    rows = (b" ".join(words[rng.below(len(words))] for _ in "12") for _ in range(count))
    return b"\n".join(rows)
