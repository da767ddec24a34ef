# SPDX-License-Identifier: MIT
"""Inputs of lame: tones, chords, noise and strokes in every WAVE format and mode, and refusals."""

import struct

from _cases import Case, Random

__all__ = ["COUNTS", "SOUNDS", "case", "synthesise", "wave_file"]

COUNTS = {"test": 40, "small": 4, "ref": 2}

SOUNDS = ("tone", "chord", "noise", "strokes", "sweep", "silence", "loud")


def _sine(phase: int) -> int:
    """A sine of a 16-bit phase in 1/32768, by parabolas: integers are the same everywhere."""
    half = phase & 0x7FFF
    value = half * (0x8000 - half) >> 13
    return -value if phase & 0x8000 else value


def synthesise(kind: str, rate: int, count: int, channel: int, rng: Random) -> list[int]:
    """Samples of 16 bits."""
    out = []
    base = 100 + rng.below(400) + channel * 7
    steps = [(base * part * 65536) // rate for part in (4, 5, 6)]
    decay = 0
    for i in range(count):
        if kind == "tone":
            value = _sine(i * steps[0] & 0xFFFF) // 2
        elif kind == "chord":
            value = sum(
                _sine(i * step * over & 0xFFFF) // (4 * over) for step in steps for over in (1, 2)
            )
        elif kind == "noise":
            value = rng.below(12000) - 6000
        elif kind == "strokes":
            decay = 30000 if i % 1900 == 700 else decay * 63 // 64
            value = (rng.below(2 * decay + 1) - decay) if decay else 0
        elif kind == "sweep":
            value = _sine((i * i * 3 // (count // 400 + 1)) & 0xFFFF) * 3 // 4
        elif kind == "loud":
            value = 32767 if (i * steps[0] >> 15) & 1 else -32768
        else:
            value = 0
        out.append(max(-32768, min(32767, value)))
    return out


def _pack(values: list[int], kind: str) -> bytes:
    if kind == "8":
        return bytes((value >> 8) + 128 for value in values)
    if kind == "24":
        return b"".join(
            (value << 8 | value & 0xFF).to_bytes(4, "little", signed=True)[:3] for value in values
        )
    if kind == "32":
        return struct.pack(f"<{len(values)}i", *(value << 16 for value in values))
    if kind == "float":
        return struct.pack(f"<{len(values)}f", *(value / 32768 for value in values))
    return struct.pack(f"<{len(values)}h", *values)


def wave_file(channels: list[list[int]], rate: int, kind: str = "16") -> bytes:
    """A WAVE file; "extensible" stores 16 bits under the longer header, with a chunk before it."""
    interleaved = [value for frame in zip(*channels, strict=True) for value in frame]
    data = _pack(interleaved, kind)
    bits = {"8": 8, "24": 24, "32": 32, "float": 32}.get(kind, 16)
    tag = 3 if kind == "float" else 1
    frame = len(channels) * bits // 8
    form = struct.pack("<HHIIHH", tag, len(channels), rate, rate * frame, frame, bits)
    before = b""
    if kind == "extensible":
        form = struct.pack("<H", 0xFFFE) + form[2:] + struct.pack("<HHIH", 22, 16, 3, 1) + bytes(14)
        before = b"LIST" + struct.pack("<I", 5) + b"INFO!\0"
    body = b"WAVE" + before + b"fmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _wave(sound: str, rate: int, count: int, channels: int, rng: Random, kind: str = "16") -> bytes:
    return wave_file([synthesise(sound, rate, count, c, rng) for c in range(channels)], rate, kind)


OPTIONS: tuple[tuple[str, int, int, str, tuple[str, ...]], ...] = (
    ("chord", 44100, 2, "16", ("-b", "128")),
    ("chord", 44100, 2, "16", ("-b", "64", "-m", "s")),
    ("strokes", 44100, 2, "16", ("-b", "128", "-m", "j")),
    ("noise", 44100, 2, "16", ("-b", "320", "-p")),
    ("noise", 48000, 1, "16", ("-b", "32")),
    ("sweep", 32000, 2, "16", ("-b", "96", "--nores")),
    ("silence", 44100, 2, "16", ("-b", "128", "-t")),
    ("loud", 44100, 1, "16", ("-b", "160", "-p", "-c", "-o")),
    ("tone", 48000, 2, "8", ("-b", "112", "-m", "d")),
    ("chord", 32000, 1, "24", ("-b", "56", "-e", "5")),
    ("chord", 44100, 2, "32", ("-b", "192", "-f")),
    ("tone", 44100, 1, "float", ("-b", "80", "-e", "c")),
    ("strokes", 48000, 2, "extensible", ("-b", "192", "--noshort")),
    ("chord", 44100, 2, "16", ("-V", "0")),
    ("strokes", 44100, 2, "16", ("-V", "4", "-p")),
    ("silence", 44100, 1, "16", ("-V", "9")),
    ("loud", 48000, 2, "16", ("-V", "2")),
    ("chord", 22050, 1, "16", ("-b", "48")),
    ("strokes", 44100, 2, "16", ("--resample", "32000", "-b", "64")),
    ("sweep", 96000, 1, "16", ("-b", "128")),
    ("chord", 44100, 2, "16", ("-a", "-b", "64", "--scale", "0.5")),
    ("noise", 44100, 2, "16", ("-m", "m", "-b", "40", "--lowpass", "6000")),
    (
        "tone",
        44100,
        2,
        "16",
        ("--tt", "A title that is longer than thirty letters", "--ta", "Nobody", "-b", "128"),
    ),
    ("strokes", 32000, 1, "16", ("-b", "128", "--scale", "2")),
)


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of lame."""
    if size != "test":
        count = {"small": 16000, "ref": 270000}[size]
        sound = ("chord", "strokes", "noise", "sweep")[index]
        options = (("-b", "128"), ("-b", "160"), ("-V", "3"), ("-b", "96", "-m", "s"))[index]
        return _case(_wave(sound, 44100, count, 2, rng), *options)
    if index < len(OPTIONS):
        sound, rate, channels, kind, options = OPTIONS[index]
        return _case(_wave(sound, rate, 300 + rng.below(1500), channels, rng, kind), *options)
    return _unusual(index - len(OPTIONS), rng)


def _unusual(kind: int, rng: Random) -> Case:
    whole = _wave("chord", 44100, 900, 2, rng)
    if kind == 0:
        return _case(_wave("tone", 44100, 0, 1, rng))
    if kind == 1:
        return _case(_wave("noise", 44100, 1, 2, rng), "-b", "32")
    if kind == 2:
        return _case(whole[: len(whole) // 2], "-b", "128")
    if kind < 7:
        sounds = [
            synthesise(rng.choice(SOUNDS), 44100, 1000 + rng.below(1200), c, rng) for c in range(1)
        ]
        sounds.append([rng.below(5) + value // 3 for value in sounds[0]])
        return _case(
            wave_file(sounds, 44100),
            "-b",
            str(rng.choice((64, 96, 128, 224, 256))),
            *rng.choice(((), ("-f",))),
        )
    damaged = (
        b"",
        b"RIFF1234WAVE",
        whole[:20] + b"\x02" + whole[21:],
        whole[:22] + b"\x06" + whole[23:],
        whole[:34] + b"\x0c" + whole[35:],
        b"RIFX" + whole[4:],
    )
    if kind < 7 + len(damaged):
        return _case(damaged[kind - 7])
    arguments = (("-b", "100"), ("-m", "x"), ("--scale", "loud"))
    return _case(whole, *arguments[kind - 7 - len(damaged)])


def _case(data: bytes, *options: str) -> Case:
    return Case({"in.wav": data}, (*options, "in.wav", "out.mp3"), outputs=("out.mp3",))
