# SPDX-License-Identifier: MIT
"""Makes TIFF files of every kind that the tiff programs read, the same ones on every Python.

The codecs here are small encoders of our own, so that an input never depends on the zlib or the
imaging library of the machine that makes it.  Nothing here decodes.
"""

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

__all__ = ["FAX", "Raster", "build", "damage", "join_pages", "picture", "raster"]

NONE, HUFFMAN, GROUP3, GROUP4, LZW, DEFLATE, PACKBITS = 1, 2, 3, 4, 5, 8, 32773
FAX = (HUFFMAN, GROUP3, GROUP4)


@dataclass(slots=True)
class Raster:
    """What one page holds: samples row by row and how they are to be laid out in the file."""

    width: int
    height: int
    bits: int
    samples: int
    photometric: int
    values: list[int]
    compression: int = NONE
    big_endian: bool = False
    predictor: int = 1
    planar: int = 1
    fill_order: int = 1
    orientation: int = 1
    rows_per_strip: int = 0
    tile: tuple[int, int] | None = None
    palette: list[int] | None = None
    extra: int | None = None
    fax_options: int = 0
    old_lzw: bool = False
    deflate_kind: str = "fixed"
    subsampling: tuple[int, int] | None = None
    tags: list[tuple[int, int, list[int]]] = field(default_factory=list)


def picture(width: int, height: int, samples: int, bits: int, seed: int) -> list[int]:
    """Samples with slopes, flat blocks, discs and a little noise: something for every codec."""
    top, out, state = (1 << bits) - 1, [], seed * 2654435761 % (1 << 32) | 1
    centre_x, centre_y = width * (seed % 5 + 1) // 6, height * (seed % 3 + 1) // 4
    radius = (min(width, height) // 3) ** 2
    for y in range(height):
        for x in range(width):
            inside = (x - centre_x) ** 2 + (y - centre_y) ** 2 < radius
            flat = (x // 16 + y // 16) % 5 == 0
            for s in range(samples):
                if flat:
                    value = (x // 16 * 37 + y // 16 * 11 + s * 50 + seed) % 256
                elif inside:
                    value = (x * (s + 1) + y * 2) * 255 // (width * (s + 1) + height * 2)
                else:
                    state = (state * 1664525 + 1013904223) % (1 << 32)
                    value = ((x * (3 - s % 3) + y * (s + 1)) // 2 + (state >> 29)) % 256
                out.append(value * top // 255)
    return out


class _Bits:
    """A bit string that grows at its end; low_first packs the way Deflate does."""

    def __init__(self, low_first: bool = False) -> None:
        self.data, self.window, self.count, self.low_first = bytearray(), 0, 0, low_first

    def put(self, value: int, width: int) -> None:
        if self.low_first:
            self.window |= value << self.count
            self.count += width
            while self.count >= 8:
                self.data.append(self.window & 255)
                self.window >>= 8
                self.count -= 8
            return
        self.window = self.window << width | value
        self.count += width
        while self.count >= 8:
            self.count -= 8
            self.data.append(self.window >> self.count)
            self.window &= (1 << self.count) - 1

    def align(self) -> None:
        if self.count:
            self.put(0, 8 - self.count)


@lru_cache(maxsize=4096)
def _packbits(row: bytes) -> bytes:
    out, at = bytearray(), 0
    while at < len(row):
        run = 1
        while run < 128 and at + run < len(row) and row[at + run] == row[at]:
            run += 1
        if run > 1:
            out += bytes((257 - run, row[at]))
            at += run
            continue
        end = at + 1
        while (
            end < len(row) and end - at < 128 and (end + 1 >= len(row) or row[end] != row[end + 1])
        ):
            end += 1
        out += bytes((end - at - 1,)) + row[at:end]
        at = end
    return bytes(out)


def _lzw(data: bytes, old: bool) -> bytes:
    bits = _Bits(low_first=old)
    table, next_code, width = {bytes((i,)): i for i in range(256)}, 258, 9
    bits.put(256, 9)
    word = b""
    for i in range(len(data)):
        longer = word + data[i : i + 1]
        if longer in table:
            word = longer
            continue
        bits.put(table[word], width)
        table[longer] = next_code
        next_code += 1
        word = data[i : i + 1]
        if next_code == 4094:
            bits.put(256, width)
            table, next_code, width = {bytes((j,)): j for j in range(256)}, 258, 9
        elif next_code > (1 << width) - (0 if old else 1) and width < 12:
            width += 1
    if word:
        bits.put(table[word], width)
        next_code += 1
        if next_code > (1 << width) - (0 if old else 1) and width < 12:
            width += 1
    bits.put(257, width)
    bits.align()
    return bytes(bits.data)


def _reverse(code: int, width: int) -> int:
    return int(format(code, f"0{width}b")[::-1], 2)


def _fixed_code(symbol: int) -> tuple[int, int]:
    if symbol < 144:
        return 0x30 + symbol, 8
    if symbol < 256:
        return 0x190 + symbol - 144, 9
    if symbol < 280:
        return symbol - 256, 7
    return 0xC0 + symbol - 280, 8


def _deflate_fixed(bits: _Bits, data: bytes) -> None:
    """One block of the fixed code, with runs of up to ten bytes at distances that were seen."""
    bits.put(3, 3)
    seen: dict[bytes, int] = {}
    at = 0
    while at < len(data):
        key = data[at : at + 3]
        there = seen.get(key) if len(key) == 3 else None
        if len(key) == 3:
            seen[key] = at
        if there is None or at - there > 256:
            code, width = _fixed_code(data[at])
            bits.put(_reverse(code, width), width)
            at += 1
            continue
        run = 3
        while run < 10 and at + run < len(data) and data[there + run] == data[at + run]:
            run += 1
        code, width = _fixed_code(254 + run)
        bits.put(_reverse(code, width), width)
        distance, symbol = at - there, 0
        bases = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193]
        while symbol < 15 and bases[symbol + 1] <= distance:
            symbol += 1
        bits.put(_reverse(symbol, 5), 5)
        bits.put(distance - bases[symbol], max(0, symbol // 2 - 1))
        at += run
    bits.put(0, 7)


def _deflate_dynamic(bits: _Bits, data: bytes) -> None:
    """One block whose own code gives the bytes 7, 8 or 9 bits by their size."""
    lengths = [7] * 64 + [8] * 63 + [9] * 130
    codes, code = {}, 0
    for width in range(1, 16):
        code <<= 1
        for symbol, length in enumerate(lengths):
            if length == width:
                codes[symbol] = (code, width)
                code += 1
    bits.put(5, 3)
    bits.put(0, 5)
    bits.put(0, 5)
    order = [16, 17, 18, 0, 8, 7, 9, 6, 10]
    own = {7: 2, 8: 2, 9: 2, 1: 3, 16: 3}
    bits.put(14, 4)
    for symbol in order + [5, 11, 4, 12, 3, 13, 2, 14, 1]:
        bits.put(own.get(symbol, 0), 3)
    own_codes = {7: 0, 8: 1, 9: 2, 1: 6, 16: 7}
    stream = lengths + [1]
    at = 0
    while at < len(stream):
        run = 1
        while at + run < len(stream) and stream[at + run] == stream[at]:
            run += 1
        symbol = stream[at]
        bits.put(_reverse(own_codes[symbol], own[symbol]), own[symbol])
        at += 1
        run -= 1
        while run >= 3:
            part = min(6, run)
            bits.put(_reverse(own_codes[16], 3), 3)
            bits.put(part - 3, 2)
            at += part
            run -= part
    for byte in data:
        bits.put(_reverse(*codes[byte]), codes[byte][1])
    bits.put(_reverse(*codes[256]), codes[256][1])


def _deflate(data: bytes, kind: str) -> bytes:
    bits = _Bits(low_first=True)
    if kind == "fixed":
        _deflate_fixed(bits, data)
    elif kind == "dynamic":
        _deflate_dynamic(bits, data)
    else:
        for at in range(0, max(1, len(data)), 1000):
            part = data[at : at + 1000]
            bits.put(1 if at + 1000 >= len(data) else 0, 3)
            bits.align()
            for value in (len(part), len(part) ^ 0xFFFF):
                bits.put(value, 16)
            for byte in part:
                bits.put(byte, 8)
    bits.align()
    low, high = 1, 0
    for byte in data:
        low = (low + byte) % 65521
        high = (high + low) % 65521
    return b"\x78\x9c" + bytes(bits.data) + struct.pack(">HH", high, low)


def _fax_codes() -> list[list[str]]:
    text = (Path(__file__).parent / "fax_codes.h").read_text()
    codes = re.findall(r'"([01]+)"', text)
    return [codes[:104], codes[104:]]


_CODES = _fax_codes()


def _put_text(bits: _Bits, text: str) -> None:
    bits.put(int(text, 2), len(text))


def _put_run(bits: _Bits, colour: int, run: int) -> None:
    while run >= 64:
        part = min(2560, run // 64 * 64)
        _put_text(bits, _CODES[colour][63 + part // 64])
        run -= part
    _put_text(bits, _CODES[colour][run])


def _row_1d(bits: _Bits, row: list[int]) -> None:
    at = colour = 0
    while at < len(row):
        end = at
        while end < len(row) and row[end] == colour:
            end += 1
        _put_run(bits, colour, end - at)
        at, colour = end, colour ^ 1


def _change(row: list[int], start: int, colour: int) -> int:
    """The first place from start on whose pixel differs from colour."""
    while start < len(row) and row[start] == colour:
        start += 1
    return start


def _row_2d(bits: _Bits, row: list[int], above: list[int]) -> None:
    width, at, colour = len(row), -1, 0
    vertical = {0: "1", 1: "011", -1: "010", 2: "000011", -2: "000010", 3: "0000011", -3: "0000010"}
    while at < width:
        a1 = _change(row, max(at, 0), colour)
        b1 = at + 1
        while b1 < width and not (above[b1] != colour and (above[b1 - 1] if b1 else 0) == colour):
            b1 += 1
        b2 = _change(above, b1, colour ^ 1)
        if b2 < a1:
            _put_text(bits, "0001")
            at = b2
        elif a1 - b1 in vertical:
            _put_text(bits, vertical[a1 - b1])
            at, colour = a1, colour ^ 1
        else:
            a2 = _change(row, a1, colour ^ 1)
            _put_text(bits, "001")
            _put_run(bits, colour, a1 - max(at, 0))
            _put_run(bits, colour ^ 1, a2 - a1)
            at = a2


def _fax(rows: list[list[int]], compression: int, options: int) -> bytes:
    bits = _Bits()
    above = [0] * len(rows[0])
    for index, row in enumerate(rows):
        if compression == GROUP3:
            if options & 4:
                while bits.count != 4:
                    bits.put(0, 1)
            bits.put(1, 12)
            if options & 1:
                bits.put(int(index % 2 == 0), 1)
        if compression == GROUP4 or (compression == GROUP3 and options & 1 and index % 2):
            _row_2d(bits, row, above)
        else:
            _row_1d(bits, row)
        if compression == HUFFMAN:
            bits.align()
        above = row
    if compression == GROUP4:
        bits.put(1, 12)
        bits.put(1, 12)
    bits.align()
    return bytes(bits.data)


def _pack_row(raster: Raster, row: list[int]) -> bytes:
    if raster.bits == 16:
        return struct.pack((">" if raster.big_endian else "<") + f"{len(row)}H", *row)
    if raster.bits == 8:
        return bytes(row)
    bits = _Bits()
    for value in row:
        bits.put(value, raster.bits)
    bits.align()
    return bytes(bits.data)


def _encode(raster: Raster, rows: list[list[int]], samples: int) -> bytes:
    if raster.compression in FAX:
        coded = _fax(rows, raster.compression, raster.fax_options)
    else:
        if raster.predictor == 2:
            mask = (1 << raster.bits) - 1
            rows = [
                row[:samples]
                + [(row[i] - row[i - samples]) & mask for i in range(samples, len(row))]
                for row in rows
            ]
        packed = [_pack_row(raster, row) for row in rows]
        if raster.compression == PACKBITS:
            coded = b"".join(map(_packbits, packed))
        else:
            data = b"".join(packed)
            if raster.compression == LZW:
                coded = _lzw(data, raster.old_lzw)
            elif raster.compression == DEFLATE:
                coded = _deflate(data, raster.deflate_kind)
            else:
                coded = data
    if raster.fill_order == 2:
        coded = bytes(_reverse(byte, 8) for byte in coded)
    return coded


def _ycbcr_units(raster: Raster, top: int, bottom: int) -> bytes:
    """Data units of one strip: luminance blocks, each followed by the chroma of its first pixel."""
    wide, high = raster.subsampling or (1, 1)
    out = bytearray()
    for y in range(top, bottom, high):
        for x in range(0, raster.width, wide):
            for i in range(wide * high):
                px, py = min(x + i % wide, raster.width - 1), min(y + i // wide, bottom - 1)
                out.append(raster.values[(py * raster.width + px) * 3])
            base = (y * raster.width + x) * 3
            out += bytes(raster.values[base + 1 : base + 3])
    if raster.compression == PACKBITS:
        return _packbits(bytes(out))
    return bytes(out)


def _chunks(raster: Raster) -> list[bytes]:
    width, height, step = raster.width, raster.height, raster.rows_per_strip or raster.height
    if raster.photometric == 6:
        return [_ycbcr_units(raster, y, min(y + step, height)) for y in range(0, height, step)]
    planes = range(raster.samples) if raster.planar == 2 else (None,)
    tile_width, tile_height = raster.tile or (width, step)
    out = []
    for plane in planes:
        first, count = (0, raster.samples) if plane is None else (plane, 1)
        for top in range(0, height, tile_height):
            bottom = top + tile_height if raster.tile else min(top + tile_height, height)
            for left in range(0, width, tile_width):
                rows = []
                for y in range(top, bottom):
                    row: list[int] = []
                    for x in range(left, left + tile_width):
                        base = (min(y, height - 1) * width + min(x, width - 1)) * raster.samples
                        row += raster.values[base + first : base + first + count]
                    rows.append(row)
                out.append(_encode(raster, rows, count))
    return out


def _page(raster: Raster, start: int) -> tuple[bytes, int]:
    """The bytes of one page that begins at start, and where its directory lies in the file."""
    order = ">" if raster.big_endian else "<"
    body = bytearray()
    offsets, counts = [], []
    for chunk in _chunks(raster):
        if len(body) % 2:
            body.append(0)
        offsets.append(start + len(body))
        counts.append(len(chunk))
        body += chunk
    entries = [
        (256, 3, [raster.width]),
        (257, 4, [raster.height]),
        (258, 3, [raster.bits] * raster.samples),
        (259, 3, [raster.compression]),
        (262, 3, [raster.photometric]),
        (266, 3, [raster.fill_order]),
        (274, 3, [raster.orientation]),
        (277, 3, [raster.samples]),
        (282, 5, [300, 4]),
        (283, 5, [300, 4]),
        (284, 3, [raster.planar]),
        (296, 3, [2]),
    ]
    if raster.tile:
        entries += [(322, 3, [raster.tile[0]]), (323, 3, [raster.tile[1]])]
        entries += [(324, 4, offsets), (325, 4, counts)]
    else:
        entries += [(273, 4, offsets), (279, 4, counts)]
        entries.append((278, 4, [raster.rows_per_strip or raster.height]))
    if raster.predictor == 2:
        entries.append((317, 3, [2]))
    if raster.palette:
        entries.append((320, 3, raster.palette))
    if raster.extra is not None:
        entries.append((338, 3, [raster.extra]))
    if raster.compression == GROUP3:
        entries.append((292, 4, [raster.fax_options]))
    if raster.subsampling:
        entries.append((530, 3, list(raster.subsampling)))
    entries += raster.tags
    fields = bytearray()
    for tag, kind, values in sorted(entries):
        form = {1: "B", 3: "H", 4: "L", 5: "L"}[kind]
        data = struct.pack(f"{order}{len(values)}{form}", *values)
        count = len(values) // 2 if kind == 5 else len(values)
        if len(data) > 4:
            if len(body) % 2:
                body.append(0)
            place = struct.pack(order + "L", start + len(body))
            body += data
        else:
            place = data.ljust(4, b"\0")
        fields += struct.pack(order + "HHL", tag, kind, count) + place
    if len(body) % 2:
        body.append(0)
    where = start + len(body)
    return bytes(body) + struct.pack(order + "H", len(entries)) + bytes(fields), where


def join_pages(pages: list[Raster]) -> bytes:
    """A TIFF file of several pages; all have the byte order of the first."""
    order = ">" if pages[0].big_endian else "<"
    out = bytearray(b"MM\0*" if pages[0].big_endian else b"II*\0")
    out += b"\0\0\0\0"
    link = 4
    for page in pages:
        data, where = _page(page, len(out))
        out[link : link + 4] = struct.pack(order + "L", where)
        out += data
        link = len(out)
        out += b"\0\0\0\0"
    return bytes(out)


def build(raster: Raster) -> bytes:
    """A TIFF file of one page."""
    return join_pages([raster])


KINDS = {
    "white": (0, 1, 8),
    "black": (1, 1, 8),
    "bilevel": (0, 1, 1),
    "grey2": (1, 1, 2),
    "grey4": (1, 1, 4),
    "grey16": (1, 1, 16),
    "greyalpha": (1, 2, 8),
    "palette1": (3, 1, 1),
    "palette4": (3, 1, 4),
    "palette8": (3, 1, 8),
    "rgb": (2, 3, 8),
    "rgb16": (2, 3, 16),
    "rgba": (2, 4, 8),
    "cmyk": (5, 4, 8),
    "ycbcr": (6, 3, 8),
}
"""Photometric interpretation, samples and bits of the pictures that cases ask for by name."""


def raster(
    kind: str, width: int, height: int, seed: int, *, repeat: int = 1, **layout: object
) -> Raster:
    """A picture of `kind`; `repeat` stacks copies of it, `layout` sets fields of the raster."""
    photometric, samples, bits = KINDS[kind]
    values = picture(width, height, samples, bits, seed) * repeat
    made = Raster(width, height * repeat, bits, samples, photometric, values)
    if photometric == 3:
        count = 1 << bits
        made.palette = [
            (i * (seed * 1021 + 4099) + s * 20011) % 256 * 257
            for s in range(3)
            for i in range(count)
        ]
    if kind in ("rgba", "greyalpha"):
        made.extra = 1 + seed % 2
    if photometric == 6:
        made.subsampling = (2, 2)
    for name, value in layout.items():
        setattr(made, name, value)
    return made


LZW_EDGES = (253, 765, 1789, 3836)
"""How many strings an encoder has learnt where its codes become wider, or it starts anew."""


def lzw_edge(learnt: int, below: Callable[[int], int], spell: Callable[[int], bytes]) -> list[int]:
    """Random samples whose LZW stream ends just where `learnt` strings are known.

    `below` draws the samples, `spell` says which bytes a sample is encoded as.
    """
    while True:
        samples: list[int] = []
        known: set[bytes] = set()
        prefix = b""
        while len(known) < learnt:
            samples.append(below(256))
            for byte in spell(samples[-1]):
                string = prefix + bytes([byte])
                if len(string) > 1 and string not in known:
                    known.add(string)
                    string = string[-1:]
                prefix = string
        if len(known) == learnt:
            return samples


def damage(data: bytes, kind: int, seed: int) -> bytes:
    """A file that no reader should accept, or only in part."""
    if kind == 0:
        return data[: len(data) // 3]
    if kind == 1:
        return b"XX" + data[2:]
    if kind == 2:
        return data[:4] + b"\xff\xff\xff\x7f" + data[8:]
    if kind == 3:
        return data[:2] + b"\x2b\0" + data[4:]
    if kind == 4:
        return data[:5]
    middle = 8 + seed % 50
    return (
        data[:middle]
        + bytes(255 - byte for byte in data[middle : middle + 40])
        + data[middle + 40 :]
    )
