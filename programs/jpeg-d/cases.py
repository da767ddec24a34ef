# SPDX-License-Identifier: MIT
"""Inputs of jpeg-d: JPEG files of random coefficients, sequential and progressive, and damaged.

No transform is needed to make them: coefficients are drawn directly, small and mostly at low
frequencies, and coded with one plain Huffman table in which every symbol has 8 or 9 bits.
"""

from collections.abc import Iterator

from _cases import Case, Random

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 44, "small": 5, "ref": 4}

OUTPUTS = (
    "",
    "-bmp",
    "-targa",
    "-rle",
    "-gif",
    "-grayscale",
    "-nosmooth -verbose",
    "-dct fast",
    "-scale 1/2",
    "-scale 1/4 -nosmooth",
    "-scale 1/8 -bmp",
    "-colors 16 -dither fs",
    "-colors 40 -dither ordered -gif",
    "-colors 9 -dither none -rle",
    "-colors 27 -onepass -bmp",
    "-colors 60 -onepass -dither ordered",
    "-colors 5 -onepass -grayscale -dither none -targa",
    "-grayscale -gif",
    "-grayscale -bmp",
    "-dct int -pnm",
)

SAMPLINGS = (
    ((2, 2), (1, 1), (1, 1)),
    ((1, 1), (1, 1), (1, 1)),
    ((2, 1), (1, 1), (1, 1)),
    ((1, 2), (1, 1), (1, 1)),
    ((4, 1), (1, 1), (2, 1)),
    ((1, 1),),
    ((2, 2), (2, 1), (1, 2)),
    ((1, 1), (1, 1), (1, 1), (1, 1)),
    ((2, 2), (1, 1), (1, 1), (2, 2)),
)


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of jpeg-d."""
    if size != "test":
        rows = {"small": 120, "ref": 480}[size]
        width = {"small": 640, "ref": 1600}[size]
        options = ("", "-gif", "-nosmooth -bmp", "-dct fast -targa", "-colors 64")[index]
        return _show(_Jpeg(rng, width, 8 * rows, SAMPLINGS[index % 3]).tiled(), options)
    width, height = rng.between(8, 60), rng.between(8, 50)
    if index < 20:
        sampling = SAMPLINGS[index % 3 if index < 17 else index % len(SAMPLINGS)]
        return _show(_Jpeg(rng, width, height, sampling).sequential(), OUTPUTS[index])
    if index < 28:
        jpeg = _Jpeg(rng, width, height, SAMPLINGS[(index - 19) % 9])
        interval = rng.choice((0, 1, 3))
        return _show(jpeg.sequential(interval=interval, separate=index % 2 == 1), "-verbose")
    if index < 34:
        jpeg = _Jpeg(rng, width, height, SAMPLINGS[index - 28])
        return _show(
            jpeg.progressive(interval=(index % 2) * 4), "-scale 1/2" if index == 31 else ""
        )
    return _damaged(index - 34, rng)


def _show(content: bytes, options: str) -> Case:
    return Case({"in.jpg": content}, (*options.split(), "in.jpg", "out"), outputs=("out",))


def _damaged(index: int, rng: Random) -> Case:
    jpeg = _Jpeg(rng, 40, 32, SAMPLINGS[index % 3])
    good = jpeg.sequential(interval=2)
    scan = good.index(b"\xff\xda")
    if index == 0:
        return _show(good[:-60], "")
    if index == 1:
        at = good.index(b"\xff\xd2")
        return _show(good[:at] + good[at + 2 :], "-bmp")
    if index == 2:
        at = good.index(b"\xff\xd1")
        return _show(good[:at] + rng.data(20) + good[at:], "")
    if index == 3:
        return _show(jpeg.progressive(interval=0)[:-300], "")
    if index == 4:
        return _show(good[:scan], "")
    if index == 5:
        return _show(good.replace(b"\xff\xc0", b"\xff\xc9"), "")
    if index == 6:
        return _show(good.replace(b"\xff\xc4", b"\xff\xfe"), "")
    if index == 7:
        return _show(rng.data(500), "")
    if index == 8:
        return _show(good, "-scale 1/3")
    frame = good.index(b"\xff\xc0")
    return _show(good[: frame + 5] + b"\xff\xdc\xff\xdc" + good[frame + 9 :], "")


def _divide_up(a: int, b: int) -> int:
    return (a + b - 1) // b


def _segment(marker: int, content: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(content) + 2).to_bytes(2, "big") + content


class _Scan:
    """Bits of entropy-coded data, in intervals between restart markers."""

    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._mcus = 0
        self._text: list[str] = []
        self._intervals: list[bytes] = []

    def put(self, count: int, value: int) -> None:
        if count:
            self._text.append(f"{value & (1 << count) - 1:0{count}b}")

    def symbol(self, symbol: int) -> None:
        # Symbols are ranked by value: 0 to 253 have 8 bits, 254 and 255 have 9.
        if symbol < 254:
            self.put(8, symbol)
        else:
            self.put(9, 508 + symbol - 254)

    def value(self, value: int) -> None:
        size = abs(value).bit_length()
        self.put(size, value if value >= 0 else value - 1)

    def close(self) -> None:
        text = "".join(self._text)
        text += "1" * (-len(text) % 8)
        data = int(text, 2).to_bytes(len(text) // 8, "big") if text else b""
        self._intervals.append(data.replace(b"\xff", b"\xff\0"))
        self._text = []

    def restart_is_due(self) -> bool:
        due = self._interval > 0 and self._mcus > 0 and self._mcus % self._interval == 0
        self._mcus += 1
        if due:
            self.close()
        return due

    def data(self) -> bytes:
        self.close()
        out = self._intervals[0]
        for number, interval in enumerate(self._intervals[1:]):
            out += bytes((0xFF, 0xD0 + number % 8)) + interval
        return out

    def intervals(self) -> list[bytes]:
        self.close()
        return self._intervals


Block = list[int]


class _Jpeg:
    def __init__(
        self, rng: Random, width: int, height: int, sampling: tuple[tuple[int, int], ...]
    ) -> None:
        self._rng = rng
        self._width, self._height, self._sampling = width, height, sampling
        self._hmax = max(h for h, _ in sampling)
        self._vmax = max(v for _, v in sampling)
        self._across = _divide_up(width, 8 * self._hmax)
        self._down = _divide_up(height, 8 * self._vmax)

    def sequential(self, *, interval: int = 0, separate: bool = False) -> bytes:
        blocks = self._blocks(self._down)
        out = self._head(0xC0, interval)
        groups = [[c] for c in range(len(blocks))] if separate else [list(range(len(blocks)))]
        for group in groups:
            scan = _Scan(interval)
            previous = [0] * len(blocks)
            for mcu in self._walk(group):
                if scan.restart_is_due():
                    previous = [0] * len(blocks)
                for component, at in mcu:
                    block = blocks[component][at]
                    _put_dc(scan, block[0] - previous[component])
                    previous[component] = block[0]
                    _put_ac(scan, block)
            out += self._scan_head(group, 0, 63, 0, 0) + scan.data()
        return out + b"\xff\xd9"

    def tiled(self) -> bytes:
        """Return a large file at the cost of a few rows of MCUs, repeated at restart markers."""
        fresh = min(self._down, 4)
        blocks = self._blocks(fresh)
        everything = list(range(len(blocks)))
        scan = _Scan(self._across)
        previous = [0] * len(blocks)
        for number, mcu in enumerate(self._walk(everything)):
            if number == self._across * fresh:
                break
            if scan.restart_is_due():
                previous = [0] * len(blocks)
            for component, at in mcu:
                block = blocks[component][at]
                _put_dc(scan, block[0] - previous[component])
                previous[component] = block[0]
                _put_ac(scan, block)
        rows = scan.intervals()
        out = [self._head(0xC0, self._across), self._scan_head(everything, 0, 63, 0, 0)]
        for y in range(self._down):
            if y:
                out.append(bytes((0xFF, 0xD0 + (y - 1) % 8)))
            out.append(rows[y % fresh])
        return b"".join(out) + b"\xff\xd9"

    def progressive(self, *, interval: int) -> bytes:
        blocks = self._blocks(self._down)
        everything = list(range(len(blocks)))
        out = self._head(0xC2, interval)
        for refine in (False, True):
            scan = _Scan(interval)
            previous = [0] * len(blocks)
            for mcu in self._walk(everything):
                if scan.restart_is_due():
                    previous = [0] * len(blocks)
                for component, at in mcu:
                    value = blocks[component][at][0]
                    if refine:
                        scan.put(1, value & 1)
                        continue
                    _put_dc(scan, (value >> 1) - previous[component])
                    previous[component] = value >> 1
            out += self._scan_head(everything, 0, 0, int(refine), int(not refine)) + scan.data()
            for component in everything:
                for low, high in ((1, 5), (6, 63)) if not refine else ((1, 63),):
                    out += self._scan_head([component], low, high, int(refine), int(not refine))
                    out += self._ac_scan(blocks[component], component, low, high, interval, refine)
        return out + b"\xff\xd9"

    def _ac_scan(
        self, blocks: list[Block], component: int, low: int, high: int, interval: int, refine: bool
    ) -> bytes:
        scan = _Scan(interval)
        for mcu in self._walk([component]):
            scan.restart_is_due()
            for _, at in mcu:
                block = blocks[at]
                if refine:
                    _put_refinement(scan, block, low, high)
                else:
                    halved = [abs(v) // 2 * (1 if v >= 0 else -1) for v in block]
                    _put_ac(scan, halved, low, high)
        return scan.data()

    def _blocks(self, mcu_rows: int) -> list[list[Block]]:
        rng = self._rng
        result: list[list[Block]] = []
        for h, v in self._sampling:
            level = 0
            blocks: list[Block] = []
            for _ in range(self._across * h * mcu_rows * v):
                level = max(-60, min(60, level + rng.between(-9, 9)))
                block = [level] + [0] * 63
                for _ in range(rng.below(9)):
                    position = 1 + min(rng.below(63), rng.below(63), rng.below(63))
                    block[position] = rng.between(-14, 14) * 6 // (5 + position)
                blocks.append(block)
            result.append(blocks)
        return result

    def _walk(self, group: list[int]) -> Iterator[list[tuple[int, int]]]:
        """Yield the blocks of each MCU as (component, position)."""
        if len(group) == 1:
            h, v = self._sampling[group[0]]
            columns = _divide_up(_divide_up(self._width * h, self._hmax), 8)
            rows = _divide_up(_divide_up(self._height * v, self._vmax), 8)
            for y in range(rows):
                for x in range(columns):
                    yield [(group[0], y * self._across * h + x)]
            return
        for my in range(self._down):
            for mx in range(self._across):
                mcu: list[tuple[int, int]] = []
                for component in group:
                    h, v = self._sampling[component]
                    for y in range(v):
                        for x in range(h):
                            at = (my * v + y) * self._across * h + mx * h + x
                            mcu.append((component, at))
                yield mcu

    def _head(self, frame: int, interval: int) -> bytes:
        count = len(self._sampling)
        out = b"\xff\xd8"
        if count == 4:
            out += _segment(0xEE, b"Adobe" + bytes((0, 100, 0, 0, 0, 0, self._rng.below(2) * 2)))
        elif self._rng.below(2):
            out += _segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
        out += _segment(0xFE, b"made \x01 of coefficients")
        out += _segment(0xDB, b"\0" + bytes(8 + i // 4 for i in range(64)))
        wide = b"".join((9 + i // 2).to_bytes(2, "big") for i in range(64))
        out += _segment(0xDB, b"\x11" + wide)
        size = self._height.to_bytes(2, "big") + self._width.to_bytes(2, "big")
        parts = [
            bytes((c + 1, h << 4 | v, int(0 < c < 3))) for c, (h, v) in enumerate(self._sampling)
        ]
        out += _segment(frame, b"\x08" + size + bytes([count]) + b"".join(parts))
        dc = bytes((0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0)) + bytes(range(16))
        ac = bytes((0, 0, 0, 0, 0, 0, 0, 254, 2, 0, 0, 0, 0, 0, 0, 0)) + bytes(range(256))
        out += _segment(0xC4, b"\0" + dc + b"\x10" + ac)
        return out + (_segment(0xDD, interval.to_bytes(2, "big")) if interval else b"")

    @staticmethod
    def _scan_head(group: list[int], low: int, high: int, before: int, after: int) -> bytes:
        parts = b"".join(bytes((c + 1, 0)) for c in group)
        return _segment(0xDA, bytes([len(group)]) + parts + bytes((low, high, before << 4 | after)))


def _put_dc(scan: _Scan, difference: int) -> None:
    scan.symbol(abs(difference).bit_length())
    scan.value(difference)


def _put_ac(scan: _Scan, block: Block, low: int = 1, high: int = 63) -> None:
    run = 0
    for value in block[low : high + 1]:
        if value == 0:
            run += 1
            continue
        while run > 15:
            scan.symbol(0xF0)
            run -= 16
        scan.symbol(run << 4 | abs(value).bit_length())
        scan.value(value)
        run = 0
    if run:
        scan.symbol(0)


def _put_refinement(scan: _Scan, block: Block, low: int, high: int) -> None:
    """Send the last bit of every coefficient; runs of blocks are not joined."""
    last = max((k for k in range(low, high + 1) if abs(block[k]) == 1), default=low - 1)
    run = 0
    bits: list[int] = []
    for k in range(low, last + 1):
        magnitude = abs(block[k])
        if magnitude > 1:
            bits.append(magnitude & 1)
        elif magnitude == 0 and run == 15:
            scan.symbol(0xF0)
            for bit in bits:
                scan.put(1, bit)
            run, bits = 0, []
        elif magnitude == 0:
            run += 1
        else:
            scan.symbol(run << 4 | 1)
            scan.put(1, int(block[k] > 0))
            for bit in bits:
                scan.put(1, bit)
            run, bits = 0, []
    if last < high:
        scan.symbol(0)
        for k in range(last + 1, high + 1):
            if abs(block[k]) > 1:
                scan.put(1, abs(block[k]) & 1)
