# SPDX-License-Identifier: MIT
"""Inputs of crc32: empty to large files, several files with a total, a missing file."""

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 22, "small": 4, "ref": 2}

LENGTHS = (0, 1, 2, 4, 7, 255, 256, 1000, 32767, 32768, 32769, 65536, 100_000)


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of crc32."""
    if size != "test":
        length = 300_000 + rng.below(5000)
        content = rng.data(length) if index % 2 else prose(rng, length)
        return Case({"input": content}, ("-n", {"small": "20", "ref": "220"}[size], "input"))
    if index < len(LENGTHS):
        content = rng.data(LENGTHS[index]) if index % 3 else bytes([index * 20]) * LENGTHS[index]
        return Case({"input": content}, ("input",))
    return _unusual(index % 5, rng)


def _unusual(kind: int, rng: Random) -> Case:
    files = {f"part{i}": rng.data(rng.below(5000)) for i in range(rng.between(2, 5))}
    if kind == 0:
        return Case(files, ("-t", *files))
    if kind == 1:
        return Case(files, ("-t", "-n", str(rng.between(2, 40)), *files))
    if kind == 2:
        return Case(files, ("-", *files), stdin=prose(rng, rng.below(9000)))
    if kind == 3:
        return Case(files, ("-t", *files, "absent"))
    return Case(files, ("-n", f"{rng.below(10)}x", *files))
