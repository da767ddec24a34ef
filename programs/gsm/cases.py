# SPDX-License-Identifier: MIT
"""Inputs of gsm: synthetic speech in every container to code, frames in both packings to decode."""

from _cases import Case, Random

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 28, "small": 4, "ref": 3}

# A quarter of a sine in 64 steps, by the integers that every machine agrees on.
QUARTER = tuple((3 * x - (x**3 >> 30)) >> 1 for x in range(0, 32768, 512))


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of gsm."""
    if size != "test":
        repeats = {"small": 8, "ref": 90}[size]
        if index % 2:
            frames = _frames(rng, 400) * (3 * repeats // 2)
            return Case({"a": frames}, ("-d", "a", "out"), outputs=("out",))
        speech = _linear(_speech(rng, 12_000)) * repeats
        return Case({"a": speech}, ("-e", "a", "out"), outputs=("out",))
    if index < 12:
        return _encode(index, rng)
    if index < 22:
        return _decode(index - 12, rng)
    return _refused(index - 22, rng)


def _encode(index: int, rng: Random) -> Case:
    speech = _speech(rng, rng.between(500, 1500))
    data = (
        _linear(speech),
        b"",
        _linear([32767 if i // 37 % 2 else -32768 for i in range(700)]),
        rng.data(1600),
        bytes(1000),
        rng.data(900),
        rng.data(900),
        _au(rng.choice((1, 2, 3, 27)), rng.data(1000)),
        _au(3, b"".join(s.to_bytes(2, "big", signed=True) for s in speech)),
        _wav(1, 16, _linear(speech), extra=True),
        _wav(1, 8, rng.data(801)),
        _wav(rng.choice((6, 7)), 8, rng.data(800)),
    )[index]
    form = ("linear",) * 5 + ("ulaw", "alaw", "au", "au", "wav", "wav", "wav")
    wav = ("-w",) if index % 3 == 0 else ()
    return Case({"a": data}, ("-e", *wav, "-f", form[index], "a", "out"), outputs=("out",))


def _decode(index: int, rng: Random) -> Case:
    frames = _frames(rng, rng.between(3, 9))
    pairs = _wav(0x31, 0, rng.data(65 * rng.between(2, 5)), fact=rng.between(100, 900))
    if index < 5:
        form = ("linear", "ulaw", "alaw", "au", "wav")[index]
        return Case({"a": frames}, ("-d", "-f", form, "a", "out"), outputs=("out",))
    if index == 5:
        return Case({"a": frames}, ("-l", "a"))
    if index == 6:
        return Case({"a": pairs}, ("-l", "a"))
    if index == 7:
        return Case({"a": b""}, ("-d", "-f", "wav", "a", "out"), outputs=("out",))
    form = "wav" if index == 8 else "au"
    return Case({"a": pairs}, ("-d", "-f", form, "a", "out"), outputs=("out",))


def _refused(index: int, rng: Random) -> Case:
    frames = _frames(rng, 3)
    bad = (
        frames[:-5],
        frames[:33] + b"\x12" + frames[34:],
        _wav(2, 4, rng.data(100)),
        _au(1, rng.data(50), rate=44100),
        _wav(0x31, 0, rng.data(100)),
        b"",
    )[index]
    argv = (
        ("-d", "a", "out"),
        ("-l", "a"),
        ("-f", "wav", "a", "out"),
        ("-f", "au", "a", "out"),
        ("-d", "a", "out"),
        ("-f", "mp3", "a", "out"),
    )[index]
    return Case({"a": bad}, argv, outputs=("out",) if argv[-1] == "out" else ())


def _sine(phase: int) -> int:
    """Return a sine, 16 bits of phase to a turn, about 32767 high."""
    step = (phase >> 8) & 63
    value = QUARTER[63 - step if phase >> 14 & 1 else step]
    return -value if phase >> 15 & 1 else value


def _speech(rng: Random, count: int) -> list[int]:
    """Return a sound like a voice: gliding pulses with two formants, then hiss, then a pause."""
    samples: list[int] = []
    phase = first = second = 0
    pitch = rng.between(700, 1500)
    formants = (rng.between(3000, 6000), rng.between(9000, 18000))
    for at in range(count):
        phase += pitch
        if phase >= 65536:
            phase -= 65536
            first = second = 0
            pitch += rng.between(-20, 20)
        first += formants[0]
        second += formants[1]
        decay = 65536 - phase
        part = at % 1200
        if part < 800:
            value = (_sine(first & 65535) + _sine(second & 65535) // 2) * decay >> 17
        elif part < 1050:
            value = rng.between(-3000, 3000)
        else:
            value = rng.between(-8, 8)
        samples.append(max(-32768, min(32767, value)))
    return samples


def _linear(samples: list[int]) -> bytes:
    return b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples)


def _frames(rng: Random, count: int) -> bytes:
    return b"".join(bytes([0xD0 | rng.below(16)]) + rng.data(32) for _ in range(count))


def _au(encoding: int, data: bytes, *, rate: int = 8000) -> bytes:
    words = (28, len(data), encoding, rate, 1)
    return b".snd" + b"".join(w.to_bytes(4, "big") for w in words) + b"note" + data


def _wav(tag: int, width: int, data: bytes, *, extra: bool = False, fact: int = 0) -> bytes:
    align = 65 if tag == 0x31 else width // 8
    fields = ((tag, 2), (1, 2), (8000, 4), (8000 * max(align, 1), 4), (align, 2), (width, 2))
    chunks = [(b"fmt ", b"".join(v.to_bytes(n, "little") for v, n in fields))]
    if fact:
        chunks.append((b"fact", fact.to_bytes(4, "little")))
    if extra:
        chunks.append((b"LIST", b"odd"))
    chunks.append((b"data", data))
    body = b"WAVE"
    for name, content in chunks:
        body += name + len(content).to_bytes(4, "little") + content + b"\0" * (len(content) % 2)
    return b"RIFF" + len(body).to_bytes(4, "little") + body
