# SPDX-License-Identifier: MIT
"""Inputs of bzip2: text, noise, runs and periods to compress; streams, also damaged, to unpack.

The streams are made by a small encoder of the format below, not by Python's `bz2`, so that they
do not depend on the library that Python was built with.
"""

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 32, "small": 6, "ref": 4}


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of bzip2."""
    if size != "test":
        return _large(index, rng, {"small": 1, "ref": 16}[size])
    if index < 14:
        return _compress(index, rng)
    if index < 24:
        return _unpack(index - 14, rng)
    return _refused(index - 24, rng)


def _large(index: int, rng: Random, factor: int) -> Case:
    if index % 2:
        stream = _file(prose(rng, 3000), rng.between(1, 9))
        option = "-d" if index % 4 == 1 else "-ds"
        return Case(
            {"in.bz2": stream * (120 * factor)}, (option, "in.bz2", "out"), outputs=("out",)
        )
    content = prose(rng, 130_000 * factor)
    return Case({"in": content}, ("-v9" if index else "-v1", "in", "out"), outputs=("out",))


def _compress(index: int, rng: Random) -> Case:
    contents = (
        b"",
        rng.data(1),
        bytes([index]) * 30_000,
        b"ab" * 6000,
        prose(rng, 5000),
        rng.data(6000),
        bytes(range(256)) * 20,
        b"".join(bytes([rng.below(3)]) * rng.between(1, 600) for _ in range(60)),
        prose(rng, 1500) * 7,
        bytes(rng.below(2) for _ in range(4000)),
    )
    content = contents[index % len(contents)]
    options = (
        ("-1",),
        ("-v", "-2"),
        ("--sort=fallback",),
        ("-4", "--sort=main"),
        ("--best", "--effort=3"),
        ("--fast", "--effort=0", "--sort=auto"),
    )[index % 6]
    if index == 12:
        return Case({}, ("-z", "-"), stdin=prose(rng, 3000))
    if index == 13:
        content = prose(rng, 12_000)
        options = ("-v", "--effort=1", "--")
    return Case({"in": content}, (*options, "in", "out.bz2"), outputs=("out.bz2",))


def _unpack(index: int, rng: Random) -> Case:
    stream = _file(prose(rng, 2500), rng.between(1, 9))
    if index == 0:
        return Case({"a": stream}, ("-d", "a", "out"), outputs=("out",))
    if index == 1:
        return Case({"a": stream + _file(b"", 1) + stream}, ("-dv", "a", "out"), outputs=("out",))
    if index == 2:
        return Case({"a": stream + b"trailing"}, ("-ds", "a"))
    if index == 3:
        runs = b"".join(bytes([rng.below(4)]) * rng.between(1, 300) for _ in range(90))
        return Case({"a": _file(runs, 1)}, ("-dsv", "a", "out"), outputs=("out",))
    if index == 4:
        return Case({"a": stream}, ("-tv", "a"))
    if index == 5:
        return Case({}, ("-d", "-"), stdin=stream)
    if index == 6:
        two = _file(prose(rng, 2500), 3, blocks=3)
        names = tuple(f"rec{n:05}.bz2" for n in (1, 2, 3))
        return Case({"a": two[7:]}, ("-rv", "a"), outputs=names)
    if index == 7:
        names = ("part00001.bz2", "part00002.bz2")
        return Case({"a": stream * 2}, ("-r", "a", "part"), outputs=names)
    if index == 8:
        return Case(
            {"a": _file(rng.data(1500), 9, blocks=2)}, ("-dv", "a", "out"), outputs=("out",)
        )
    return Case({"a": _file(b"abc" * 700, 9)}, ("-d", "a", "out"), outputs=("out",))


def _refused(index: int, rng: Random) -> Case:
    stream = _file(prose(rng, 1500), 9)
    if index == 0:
        return Case({"a": stream[: len(stream) // 2]}, ("-d", "a", "out"), outputs=("out",))
    if index == 1:
        at = rng.between(20, len(stream) - 20)
        flipped = stream[:at] + bytes([stream[at] ^ 1 << rng.below(8)]) + stream[at + 1 :]
        return Case({"a": flipped}, ("-dk", "a", "out"), outputs=("out",))
    if index == 2:
        return Case({"a": b"BZh0" + stream[4:]}, ("-t", "a"))
    if index == 3:
        return Case({"a": stream[:4] + b"1AY&SZ" + stream[10:]}, ("-t", "a"))
    if index == 4:
        return Case({}, ("-d", "absent", "out"))
    if index == 5:
        return Case({"a": stream}, ("-x", "a", "out"))
    if index == 6:
        return Case({"a": rng.data(3000)}, ("-r", "a"))
    return Case({"a": stream[:-3] + rng.data(3)}, ("-ts", "a"))


def _file(data: bytes, level: int, *, blocks: int = 1) -> bytes:
    """Return a bzip2 stream of `data` in equal blocks."""
    bits = _Bits()
    for byte in b"BZh%d" % level:
        bits.put(8, byte)
    step = -(-len(data) // blocks)
    combined = 0
    for start in range(0, len(data), max(step, 1)):
        crc = _block(bits, data[start : start + step])
        combined = ((combined << 1 | combined >> 31) & 0xFFFFFFFF) ^ crc
    bits.put(48, 0x177245385090)
    bits.put(32, combined)
    return bits.bytes()


class _Bits:
    def __init__(self) -> None:
        self._text: list[str] = []

    def put(self, count: int, value: int) -> None:
        self._text.append(f"{value:0{count}b}")

    def bytes(self) -> bytes:
        text = "".join(self._text)
        text += "0" * (-len(text) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big")


def _crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return crc ^ 0xFFFFFFFF


def _shorten_runs(data: bytes) -> bytes:
    out = bytearray()
    at = 0
    while at < len(data):
        run = 1
        while run < 255 and data[at + run : at + run + 1] == data[at : at + 1]:
            run += 1
        out += data[at : at + 1] * min(run, 4)
        if run >= 4:
            out.append(run - 4)
        at += run
    return bytes(out)


def _symbols(column: bytes, used: list[int]) -> list[int]:
    """Return move-to-front positions with runs of zeros in bijective base two."""
    front = list(used)
    symbols: list[int] = []
    run = 0
    for byte in [*column, -1]:
        position = front.index(byte) if byte >= 0 else len(used)
        if position == 0:
            run += 1
            continue
        while run > 0:
            symbols.append(0 if run & 1 else 1)
            run = (run - 1) // 2
        symbols.append(position + 1)
        if byte >= 0:
            front.insert(0, front.pop(position))
    return symbols


def _block(bits: _Bits, data: bytes) -> int:
    crc = _crc(data)
    coded = _shorten_runs(data)
    twice = coded + coded
    order = sorted(range(len(coded)), key=lambda at: twice[at : at + len(coded)])
    column = bytes(coded[at - 1] for at in order)
    used = sorted(set(coded))
    symbols = _symbols(column, used)
    bits.put(48, 0x314159265359)
    bits.put(32, crc)
    bits.put(1, 0)
    bits.put(24, order.index(0))
    rows = [any(16 * row + i in used for i in range(16)) for row in range(16)]
    for row in rows:
        bits.put(1, int(row))
    for row in range(16):
        for i in range(16):
            if rows[row]:
                bits.put(1, int(16 * row + i in used))
    # Two tables of one fixed length each; every other group uses the second.
    alphabet = len(used) + 2
    length = max(1, (alphabet - 1).bit_length())
    groups = -(-len(symbols) // 50)
    bits.put(3, 2)
    bits.put(15, groups)
    for _ in range(groups):
        bits.put(2, 0b10)
    for table in range(2):
        bits.put(5, length + table)
        bits.put(alphabet, 0)
    for number, symbol in enumerate(symbols):
        # The first selector moves table 1 to the front, the next table 0, and so on.
        bits.put(length + 1 - number // 50 % 2, symbol)
    return crc
