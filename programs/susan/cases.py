# SPDX-License-Identifier: MIT
"""Inputs of susan: shapes with noise in both kinds of PGM, for every mode and option."""

from _cases import Case, Random

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 32, "small": 6, "ref": 4}

OPTIONS = (
    "-s",
    "-s -t 5",
    "-s -3",
    "-s -d 1",
    "-s -d 2.5 -t 60",
    "-s -d 100 -t 9",
    "-e",
    "-e -p",
    "-e -r",
    "-e -n -p",
    "-e -3",
    "-e -3 -n -l -t 10",
    "-e -t 4 -l",
    "-c -l",
    "-c -p -t 10",
    "-c -q -l",
    "-c -r",
    "-c -l -t 40",
)


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of susan."""
    if size != "test":
        width, height = {"small": (400, 330), "ref": (1600, 1250)}[size]
        if index % 3:
            width, height = 2 * width, 2 * height
        return _run(_raw(_picture(rng, width, height)), ("-s -d 2", "-e", "-c -l")[index % 3])
    if index < len(OPTIONS):
        picture = _picture(rng, rng.between(30, 80), rng.between(30, 70))
        return _run(_raw(picture), OPTIONS[index])
    if index < 26:
        return _unusual(index - len(OPTIONS), rng)
    return _refused(index - 26, rng)


def _run(content: bytes, options: str) -> Case:
    return Case({"in.pgm": content}, (*options.split(), "in.pgm", "out.pgm"), outputs=("out.pgm",))


def _unusual(index: int, rng: Random) -> Case:
    rows = _picture(rng, 24, 20)
    plain = b"P2 # plain\n24 20\n31\n" + b" ".join(b"%d" % (v // 9) for row in rows for v in row)
    wide = b"P5 24 20 1000\n" + b"".join((v * 3).to_bytes(2, "big") for row in rows for v in row)
    thin = b"P5 1 40 255\n" + rng.data(40)
    contents = (plain, wide, thin, b"P5 1 1 255\n\x50", _raw(rows), _raw([bytes(30)] * 25))
    options = ("-e", "-c -l", "-s", "-s -3", "-s -t 255 -d 0.3", "-c -l")
    if index < 6:
        return _run(contents[index], options[index])
    speckled = [bytearray(row) for row in [b"\x78" * 40] * 30]
    for _ in range(60):
        speckled[rng.below(30)][rng.below(40)] = rng.below(256)
    return _run(_raw([bytes(row) for row in speckled]), "-s -t 8" if index == 6 else "-e -l -t 12")


def _refused(index: int, rng: Random) -> Case:
    picture = _raw(_picture(rng, 20, 20))
    contents = (picture[:-9], b"P6 2 2 255\n" + bytes(12), _raw([b"abcd"] * 4), b"P5 0 9 255\n")
    if index < 4:
        return _run(contents[index], "-c" if index == 2 else "-s")
    if index == 4:
        return _run(picture, "-s -t 0")
    return _run(b"P2 2 2 9\n1 2 3 10\n", "-e")


def _raw(rows: list[bytes]) -> bytes:
    return b"P5\n%d %d\n255\n" % (len(rows[0]), len(rows)) + b"".join(rows)


def _picture(rng: Random, width: int, height: int) -> list[bytes]:
    """Return a gradient with rectangles and triangles on it, a thin line, and weak noise."""
    ramp = bytes(60 + x * 40 // width for x in range(width))
    rows = [bytearray(ramp) for _ in range(height)]
    for number in range(3 + width * height // 4000):
        left, top = rng.below(width - 6), rng.below(height - 6)
        right = min(width, left + rng.between(6, max(7, width // 3)))
        bottom = min(height, top + rng.between(6, max(7, height // 3)))
        level = rng.below(256)
        for y in range(top, bottom):
            end = right if number % 2 else left + (right - left) * (y - top + 1) // (bottom - top)
            rows[y][left:end] = bytes([level]) * (end - left)
    for x in range(width):
        rows[(x * 2 // 3 + 5) % height][x] = 240
    noise = rng.data(width + height)
    weak = [bytes(min(255, max(0, v + d)) for v in range(256)) for d in (-3, -1, 0, 0, 1, 3, 2, -2)]
    for y in range(height):
        row = rows[y]
        for x in range(y % 3, width, 3):
            row[x] = weak[noise[x + y % height] & 7][row[x]]
    return [bytes(row) for row in rows]
