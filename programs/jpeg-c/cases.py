# SPDX-License-Identifier: MIT
"""Inputs of jpeg-c: pictures in every format that it reads, with every option that it has."""

from _cases import Case, Random

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 44, "small": 5, "ref": 4}

OPTIONS = (
    "",
    "-quality 95",
    "-quality 5",
    "-grayscale",
    "-rgb -quality 60",
    "-sample 1x1",
    "-sample 2x1 -optimize",
    "-sample 1x2 -restart 1",
    "-sample 4x1,1x1,2x1",
    "-sample 2x2,1x2,2x1 -quality 90",
    "-progressive",
    "-progressive -grayscale -quality 99",
    "-progressive -rgb",
    "-progressive -restart 3b -quality 85",
    "-dct fast -optimize",
    "-dct int -restart 7b",
    "-smooth 20",
    "-quality 3 -baseline",
    "-optimize -comment A-comment -verbose",
    "-sample 4x2,2x2,1x1 -progressive",
)

TABLES = " ".join(str(1 + i // 2) for i in range(64)) + "\n# second\n" + "17 " * 64
SCANS = "0,1,2;\n"
SCANS_SEPARATE = "0; # brightness\n1; 2;"
SCANS_PROGRESSIVE = "0,1,2: 0-0, 0, 1;\n0: 1-63, 0, 2; 1: 1-63, 0, 0; 2: 1-63, 0, 0;\n"
SCANS_PROGRESSIVE += "0: 1-63, 2, 1; 0,1,2: 0-0, 1, 0; 0: 1-63, 1, 0;"


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of jpeg-c."""
    if size != "test":
        width, height = {"small": (900, 600), "ref": (2700, 2000)}[size]
        options = (
            "",
            "-progressive",
            "-quality 90 -sample 1x1 -optimize",
            "-dct fast",
            "-smooth 9",
        )
        return _convert({"in": _pnm(_picture(rng, width, height))}, options[index])
    if index < len(OPTIONS):
        width, height = rng.between(20, 90), rng.between(20, 70)
        return _convert({"in": _pnm(_picture(rng, width, height))}, OPTIONS[index])
    if index < 34:
        return _formats(index - len(OPTIONS), rng)
    return _refused(index - 34, rng)


def _convert(files: dict[str, bytes], options: str) -> Case:
    return Case(files, (*options.split(), "in", "out.jpg"), outputs=("out.jpg",))


def _formats(index: int, rng: Random) -> Case:
    width, height, rows = _picture(rng, rng.between(1, 40), rng.between(1, 30))
    gray = [row[::3] for row in rows]
    head = b"%d %d\n" % (width, height)
    numbers = b" ".join(b"%d" % (v // 16) for row in rows for v in row)
    wide = b"".join(bytes((v, 255 - v)) for row in gray for v in row)
    files = (
        b"P3\n# plain\n" + head + b"15\n" + numbers,
        b"P5 " + head + b"65535\n" + wide,
        b"P2 " + head + b"255\n" + b"\n".join(b"%d" % v for row in gray for v in row),
        _bmp(width, height, rows, 24),
        _bmp(width, -height, rows, 32),
        _bmp(width, height, gray, 8),
        _tga(2, 24, width, height, rows, flags=0x20),
        _tga(11, 8, width, height, gray, flags=0x10),
        _tga(9, 8, width, height, gray, flags=0),
        _gif(width, height, gray, interlaced=bool(rng.below(2))),
        _pnm((width, height, rows)),
        _pnm((width, height, rows)),
        _pnm((width, height, rows)),
        _pnm((width, height, rows)),
    )[index]
    if index < 10:
        return _convert({"in": files}, "-targa" if 6 <= index < 9 else "-quality 80 -verbose")
    if index == 10:
        text = {"in": files, "tables": TABLES.encode()}
        return _convert(text, "-qtables tables -quality 50")
    script = (SCANS, SCANS_SEPARATE, SCANS_PROGRESSIVE)[index - 11].encode()
    return _convert({"in": files, "scans": script}, "-scans scans -verbose")


def _refused(index: int, rng: Random) -> Case:
    picture = _pnm(_picture(rng, 20, 20))
    bad = (
        ({"in": picture[:200]}, ""),
        ({"in": b"P6 0 4 255\n"}, ""),
        ({"in": b"GIF89a" + rng.data(100)}, ""),
        ({"in": b"BM" + bytes(40)}, ""),
        ({"in": bytes(18)}, "-targa"),
        ({"in": picture}, "-quality 101"),
        ({"in": picture}, "-sample 3x1,2x1,1x1"),
        ({"in": picture, "scans": b"0: 0-5, 0, 0;"}, "-scans scans"),
        ({"in": picture, "tables": b"1 2 3"}, "-qtables tables"),
        ({"in": picture, "scans": b"0; 1;"}, "-scans scans"),
    )[index]
    return Case(bad[0], (*bad[1].split(), "in", "out.jpg"))


def _picture(rng: Random, width: int, height: int) -> tuple[int, int, list[bytes]]:
    """Return rows of RGB: two gradients that meet at a slanted edge, texture and noise."""
    noise = rng.data(3 * width + 1024)
    slopes = [rng.between(1, 5) for _ in range(3)]
    left = [bytes((x * slopes[c] // 3 + 40) & 255 for x in range(width + height)) for c in range(3)]
    right = [bytes((200 - x // (c + 1)) & 255 for x in range(width + height)) for c in range(3)]
    rows: list[bytes] = []
    for y in range(height):
        row = bytearray(3 * width)
        edge = (y * 5 // 7 + width // 3) % width
        for c in range(3):
            row[c : 3 * edge : 3] = left[c][y : y + edge]
            row[3 * edge + c :: 3] = right[c][y // 2 : y // 2 + width - edge]
        if y // 16 % 3 == 0:
            start = rng.below(1000)
            part = slice(3 * (width // 2), 3 * (width * 3 // 4))
            row[part] = bytes(a ^ b >> 4 for a, b in zip(row[part], noise[start:], strict=False))
        rows.append(bytes(row))
    return width, height, rows


def _pnm(picture: tuple[int, int, list[bytes]]) -> bytes:
    width, height, rows = picture
    return b"P6\n%d %d\n255\n" % (width, height) + b"".join(rows)


def _bmp(width: int, height: int, rows: list[bytes], bits: int) -> bytes:
    palette = b""
    if bits == 8:
        palette = b"".join(bytes((i, 255 - i, i // 2, 0)) for i in range(256))
    body = b""
    for row in rows if height < 0 else reversed(rows):
        line = row
        if bits > 8:
            pad = b"\0" if bits == 32 else b""
            line = b"".join(row[at : at + 3][::-1] + pad for at in range(0, len(row), 3))
        body += line + b"\0" * (-len(line) % 4)
    fields = ((40, 4), (width, 4), (height, 4), (1, 2), (bits, 2), (0, 4), (len(body), 4))
    info = b"".join(value.to_bytes(n, "little", signed=True) for value, n in fields) + bytes(16)
    start = 14 + len(info) + len(palette)
    head = (
        b"BM" + (start + len(body)).to_bytes(4, "little") + bytes(4) + start.to_bytes(4, "little")
    )
    return head + info + palette + body


def _tga(kind: int, bits: int, width: int, height: int, rows: list[bytes], *, flags: int) -> bytes:
    mapped = kind & 7 == 1
    size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    head = (
        bytes((3, int(mapped), kind, 0, 0, 0, int(mapped), 24 if mapped else 0)) + bytes(4) + size
    )
    body = b"ID." + (b"".join(bytes((i, i ^ 90, 255 - i)) for i in range(256)) if mapped else b"")
    step = bits // 8
    for row in rows:
        for at in range(0, len(row), 2 * step):
            pair = [row[p : p + step][::-1] for p in (at, at + step) if p < len(row)]
            if kind < 8:
                body += b"".join(pair)
            elif len(pair) == 2 and pair[0] == pair[1]:
                body += b"\x81" + pair[0]
            else:
                body += bytes([len(pair) - 1]) + b"".join(pair)
    return head + bytes((bits, flags)) + body


def _gif(width: int, height: int, rows: list[bytes], *, interlaced: bool) -> bytes:
    """Return a GIF whose codes are all literal: the dictionary is cleared before it grows."""
    size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    palette = b"".join(bytes((i, 255 - i, i)) for i in range(256))
    order = list(range(height))
    if interlaced:
        order = [
            y
            for start, step in ((0, 8), (4, 8), (2, 4), (1, 2))
            for y in range(start, height, step)
        ]
    value = shift = 0
    pixels = b"".join(rows[y] for y in order)
    for at, pixel in enumerate(pixels):
        if at % 200 == 0:
            value |= 256 << shift
            shift += 9
        value |= pixel << shift
        shift += 9
    value |= 257 << shift
    data = value.to_bytes((shift + 9 + 7) // 8, "little")
    blocks = b"".join(
        bytes([len(data[at : at + 255])]) + data[at : at + 255] for at in range(0, len(data), 255)
    )
    image = b"," + bytes(4) + size + bytes([0x40 * interlaced])
    extension = b"!\xfe\x02hi\x00"
    screen = b"GIF89a" + size + b"\xf7\0\0" + palette
    return screen + extension + image + b"\x08" + blocks + b"\0;"
