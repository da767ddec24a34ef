# SPDX-License-Identifier: MIT
"""Inputs of adpcm: swept tones with noise, silence, clipping, both forms and damaged files."""

import struct

from _cases import Case, Random

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 24, "small": 4, "ref": 2}

FRAMES = (0, 1, 2, 9, 504, 505, 506, 4000, 9000)
GENERATIONS = {"small": "18", "ref": "185"}
RATES = (8000, 22050, 44100)


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of adpcm."""
    if size != "test":
        options = ("-n", GENERATIONS[size], *(("-d",) if index % 2 else ()))
        return _case(rng.data(30_000) if index % 2 else _sound(60_000, 1, rng), options)
    kind, frames = index % 6, rng.choice(FRAMES)
    if kind == 0:
        return _case(_sound(frames, 1, rng), ("-n", str(rng.between(1, 3))))
    if kind == 1:
        return _case(rng.data(frames), ("-d",))
    if kind == 2:
        return _case(_wave(_sound(frames, 1, rng), 1, rng), ("-w",))
    if kind == 3:
        block = 8 * rng.between(2, 128)
        return _case(_wave(_sound(frames, 2, rng), 2, rng), ("-w", "-b", str(block)))
    if kind == 4:
        return _case(_ima_wave(rng.between(1, 2), rng, damaged=False), ("-d", "-w"))
    return _bad(index // 6, rng)


def _case(content: bytes, options: tuple[str, ...]) -> Case:
    return Case({"input": content}, (*options, "input", "output"), outputs=("output",))


def _bad(kind: int, rng: Random) -> Case:
    if kind == 0:
        return _case(_wave(_sound(100, 1, rng), 1, rng)[:30], ("-w",))
    if kind == 1:
        return _case(_ima_wave(2, rng, damaged=True), ("-d", "-w"))
    if kind == 2:
        return _case(_wave(_sound(100, 2, rng), 2, rng), ("-w", "-b", "20"))
    return _case(_sound(3000, 1, rng) + b"\1", ())


def _sound(frames: int, channels: int, rng: Random) -> bytes:
    """Return PCM of a swept parabola wave a channel, with pauses and a little noise."""
    waves = [(rng.below(65536), rng.between(200, 3000), rng.between(50, 400)) for _ in "12"]
    values = []
    for frame in range(frames):
        for phase, speed, loudness in waves[:channels]:
            angle = (phase + frame * speed + frame * frame // 64) % 65536 - 32768
            wave = angle * (32768 - abs(angle)) >> 13
            silent = frame // 1500 % 4 == 3
            value = 0 if silent else wave * loudness // 256 + rng.below(64) - 32
            values.append(max(-32768, min(32767, value)))
    return struct.pack(f"<{len(values)}h", *values)


def _chunk(tag: bytes, content: bytes) -> bytes:
    return tag + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _riff(*chunks: bytes) -> bytes:
    return _chunk(b"RIFF", b"WAVE" + b"".join(chunks))


def _wave(pcm: bytes, channels: int, rng: Random) -> bytes:
    rate = rng.choice(RATES)
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * 2 * channels, 2 * channels, 16)
    note = _chunk(b"LIST", rng.data(rng.below(20)))
    return _riff(_chunk(b"fmt ", form), note, _chunk(b"data", pcm))


def _ima_wave(channels: int, rng: Random, *, damaged: bool) -> bytes:
    block = 4 * channels * rng.between(2, 60)
    frames = (block // channels - 4) * 2 + 1
    count = rng.between(1, 12)
    form = struct.pack("<HHIIHHHH", 17, channels, 8000, 4055, block, 4, 2, frames)
    data = b""
    for _ in range(count):
        for _ in range(channels):
            data += rng.data(2) + bytes([rng.below(89) + 128 * damaged, 0])
        data += rng.data(block - 4 * channels)
    fact = struct.pack("<I", count * frames - rng.below(frames))
    return _riff(_chunk(b"fmt ", form), _chunk(b"fact", fact), _chunk(b"data", data))
