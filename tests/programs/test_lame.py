# SPDX-License-Identifier: MIT
"""lame's streams decoded by mpg123 and compared with what went in."""

import struct
import wave
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load_script

from .conftest import PROGRAMS, Execute, cases

DELAY = 528
"""Samples by which encoder and decoder are late together, after mpg123 has dropped its own 529."""


sounds = load_script(PROGRAMS / "lame" / "cases.py", "lame_cases")


def _decode(tool: Any, folder: Path, name: str = "out.mp3") -> tuple[int, list[list[int]]]:
    """Rate and channels as mpg123 decodes them; it must have nothing to complain about."""
    tool("mpg123", "-q", "-w", "out.wav", name)
    with wave.open(str(folder / "out.wav")) as reader:
        count, channels = reader.getnframes(), reader.getnchannels()
        values = struct.unpack(f"<{count * channels}h", reader.readframes(count))
        return reader.getframerate(), [list(values[c::channels]) for c in range(channels)]


def _noise_ratio(source: list[int], decoded: list[int], delay: int = DELAY) -> float:
    """Energy of the source over the energy of the difference."""
    part = decoded[delay : delay + len(source)]
    signal = sum(a * a for a in source[: len(part)])
    noise = sum((a - b) ** 2 for a, b in zip(source, part, strict=False))
    return signal / max(noise, 1)


def _channels(kind: str, rate: int, count: int, channels: int = 2) -> list[list[int]]:
    rng = cases.Random(1)
    return [sounds.synthesise(kind, rate, count, c, rng) for c in range(channels)]


@pytest.fixture
def encode(execute: Execute, tmp_path: Path) -> Any:
    """Encode channels of samples with some options into out.mp3; return what the program said."""

    def run(channels: list[list[int]], rate: int, *options: str, kind: str = "16") -> bytes:
        (tmp_path / "in.wav").write_bytes(sounds.wave_file(channels, rate, kind))
        return execute("lame", *options, "in.wav", "out.mp3")

    return run


@pytest.mark.parametrize("rate", [32000, 44100, 48000])
@pytest.mark.parametrize(
    ("kind", "options", "decibels"),
    [
        ("tone", ["-b", "128"], 38),
        ("tone", ["-b", "320", "-p"], 56),
        ("chord", ["-b", "128"], 24),
        ("chord", ["-b", "192", "-m", "s"], 31),
        ("chord", ["-b", "160", "--nores"], 26),
        ("chord", ["-b", "128", "-f"], 24),
        ("chord", ["-V", "0"], 25),
        ("chord", ["-V", "6"], 12),
        ("noise", ["-b", "320"], 5),
        ("strokes", ["-b", "320"], 5),
    ],
)
def test_the_decoded_sound_is_close_to_the_source(
    kind: str,
    options: list[str],
    decibels: float,
    rate: int,
    encode: Any,
    tool: Any,
    tmp_path: Path,
) -> None:
    source = _channels(kind, rate, rate // 2)
    encode(source, rate, *options)
    decoded_rate, decoded = _decode(tool, tmp_path)
    assert decoded_rate == rate
    for before, after in zip(source, decoded, strict=True):
        assert _noise_ratio(before, after) > 10 ** (decibels / 10)


@pytest.mark.parametrize("bitrate", [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320])
def test_every_bit_rate_decodes_and_more_bits_never_hurt_much(
    bitrate: int, encode: Any, tool: Any, tmp_path: Path
) -> None:
    source = _channels("chord", 44100, 20000, 1)
    encode(source, 44100, "-b", str(bitrate))
    _, decoded = _decode(tool, tmp_path)
    assert _noise_ratio(source[0], decoded[0]) > 10 ** (0.8 + bitrate / 320)
    size = (tmp_path / "out.mp3").stat().st_size
    frames = (20000 + 1105 + 1151) // 1152
    tag = 144000 * 128 // 44100
    assert abs(size - tag - frames * 1152 / 44100 * bitrate * 125) < 2 * bitrate


@pytest.mark.parametrize("kind", ["8", "16", "24", "32", "float", "extensible"])
def test_every_sample_format_gives_the_same_sound(
    kind: str, encode: Any, tool: Any, tmp_path: Path
) -> None:
    source = _channels("chord", 44100, 9000)
    encode(source, 44100, "-b", "192", kind=kind)
    _, decoded = _decode(tool, tmp_path)
    assert _noise_ratio(source[0], decoded[0]) > (100 if kind == "8" else 1000)


def test_equal_channels_are_coded_as_middle_and_side(encode: Any) -> None:
    source = _channels("chord", 44100, 12000, 1)
    said = encode([source[0], source[0]], 44100, "-b", "128").decode()
    numbers = [int(word) for word in said.replace(",", "").split() if word.isdigit()]
    frames, middle = numbers[0], numbers[2]
    assert middle > 0.8 * frames
    said = encode([source[0], source[0]], 44100, "-b", "128", "-m", "s").decode()
    assert " 0 with middle" in said


def test_short_windows_keep_silence_before_a_stroke(encode: Any, tool: Any, tmp_path: Path) -> None:
    rng = cases.Random(3)
    source = [0] * 9000 + [rng.below(50000) - 25000 for _ in range(600)] + [0] * 5000
    before = {}
    for options in ((), ("--noshort",)):
        encode([source], 44100, "-b", "96", *options)
        _, decoded = _decode(tool, tmp_path)
        early = decoded[0][DELAY + 8000 : DELAY + 8800]
        before[options] = sum(value * value for value in early)
    assert before[()] * 20 < before[("--noshort",)]


def _crossings(values: list[int]) -> int:
    """How often a wave rises through zero, small ripples apart."""
    count, low = 0, False
    for value in values:
        if value < -1000:
            low = True
        elif value > 1000 and low:
            count, low = count + 1, False
    return count


@pytest.mark.parametrize("rate", [8000, 22050, 24000, 96000])
def test_other_rates_are_converted(rate: int, encode: Any, tool: Any, tmp_path: Path) -> None:
    source = _channels("tone", rate, rate // 4, 1)
    encode(source, rate, "-b", "160")
    decoded_rate, decoded = _decode(tool, tmp_path)
    assert decoded_rate == (48000 if rate > 48000 else 32000)
    crossings = [_crossings(values) for values in (source[0], decoded[0])]
    assert abs(crossings[0] - crossings[1]) <= 0.01 * crossings[0] + 2


def test_the_tag_tells_frames_bytes_and_a_rising_table(encode: Any, tmp_path: Path) -> None:
    for options, mark in ((("-b", "128"), b"Info"), (("-V", "4"), b"Xing")):
        said = encode(_channels("strokes", 44100, 30000), 44100, *options).decode().split()
        data = (tmp_path / "out.mp3").read_bytes()
        assert data[36:40] == mark
        flags, frames, size = struct.unpack(">III", data[40:52])
        assert (flags, frames, size) == (15, int(said[0]), len(data))
        table = data[52:152]
        assert list(table) == sorted(table)
        assert table[99] > 200


def test_variable_frames_grow_with_their_contents(encode: Any, tool: Any, tmp_path: Path) -> None:
    rng = cases.Random(2)
    quiet = [0] * 15000
    noise = sounds.synthesise("noise", 44100, 15000, 0, rng)
    sizes: list[int] = []
    for source in (quiet, noise):
        encode([source], 44100, "-V", "2")
        _decode(tool, tmp_path)
        sizes.append((tmp_path / "out.mp3").stat().st_size)
    assert sizes[1] > 2.5 * sizes[0]


def test_a_checksum_is_right_in_every_frame(encode: Any, tmp_path: Path) -> None:
    encode(_channels("chord", 44100, 8000), 44100, "-b", "128", "-p", "-t")
    data = (tmp_path / "out.mp3").read_bytes()
    at = frames = 0
    while at + 4 <= len(data):
        assert data[at : at + 2] == b"\xff\xfa"
        crc = 0xFFFF
        for byte in data[at + 2 : at + 4] + data[at + 6 : at + 38]:
            for bit in range(7, -1, -1):
                carry = (crc >> 15 ^ byte >> bit) & 1
                crc = (crc << 1 & 0xFFFF) ^ (0x8005 if carry else 0)
        assert crc == int.from_bytes(data[at + 4 : at + 6], "big")
        at += 144000 * 128 // 44100 + (data[at + 2] >> 1 & 1)
        frames += 1
    assert at == len(data)
    assert frames == 8


def test_an_id3_tag_follows_the_sound(encode: Any, tool: Any, tmp_path: Path) -> None:
    encode(_channels("tone", 44100, 3000), 44100, "--tt", "Title", "--ta", "Artist")
    tag = (tmp_path / "out.mp3").read_bytes()[-128:]
    assert tag[:8] == b"TAGTitle"
    assert tag[33:39] == b"Artist"
    _decode(tool, tmp_path)


def test_it_is_as_good_as_the_real_one_by_plain_noise(
    encode: Any, tool: Any, tmp_path: Path
) -> None:
    source = _channels("noise", 44100, 30000)
    encode(source, 44100, "-b", "192", "-m", "s")
    _, ours = _decode(tool, tmp_path)
    tool("lame", "--quiet", "-t", "-b", "192", "-m", "s", "in.wav", "theirs.mp3")
    _, theirs = _decode(tool, tmp_path, "theirs.mp3")
    assert _noise_ratio(source[0], ours[0]) > 0.8 * _noise_ratio(source[0], theirs[0], 1105)
