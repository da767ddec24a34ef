# SPDX-License-Identifier: MIT
"""adpcm against sox (plain and WAVE) and against Python's audioop.

Plain DVI code is compared bit for bit with audioop, which rounds as the recommendation does. sox
multiplies where the recommendation shifts and adds, so its plain code is compared by distance; its
WAVE blocks are compared bit for bit.
"""

import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import Execute, cases

PLAIN = ("-t", "raw", "-e", "signed-integer", "-b", "16", "-c", "1", "-r", "8000", "-L")


def _samples(pcm: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(pcm) // 2}h", pcm)


def _data_of(path: Path) -> bytes:
    whole = path.read_bytes()
    return whole[whole.index(b"data") + 8 :]


def _sweep(tool: Callable[..., bytes], name: str, channels: int, *, rate: int = 8000) -> None:
    sound = ["-R", "-n", "-r", rate, "-b", 16, "-c", channels, name]
    tool("sox", *sound, "synth", "1.3", "sine", "200-3000", "sine", "900-100", "gain", "-3")


def _noise(before: bytes, after: bytes) -> int:
    pairs = zip(_samples(before), _samples(after), strict=True)
    return sum((a - b) ** 2 for a, b in pairs)


@pytest.fixture
def audioop() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return pytest.importorskip("audioop", reason="needs Python 3.12 or older")


@pytest.mark.parametrize("seed", range(6))
def test_plain_codes_are_those_of_audioop(
    execute: Execute, audioop: ModuleType, tmp_path: Path, seed: int
) -> None:
    rng = cases.Random(seed)
    pcm = (
        rng.data(3000)
        if seed % 2
        else b"".join(
            struct.pack("<h", (i * i // 7) % 20_000 - 10_000 + rng.below(99)) for i in range(4000)
        )
    )
    (tmp_path / "pcm").write_bytes(pcm)
    execute("adpcm", "pcm", "codes")
    execute("adpcm", "-d", "codes", "back")
    codes, _ = audioop.lin2adpcm(pcm, 2, None)
    back, _ = audioop.adpcm2lin(codes, 2, None)
    assert (tmp_path / "codes").read_bytes() == codes
    assert (tmp_path / "back").read_bytes() == back


def test_sox_decodes_our_plain_codes_to_nearly_our_sound(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path
) -> None:
    _sweep(tool, "in.wav", 1)
    tool("sox", "in.wav", *PLAIN, "pcm")
    execute("adpcm", "pcm", "codes.ima")
    execute("adpcm", "-d", "codes.ima", "ours")
    tool("sox", "-t", "ima", "-r", "8000", "codes.ima", *PLAIN, "theirs")
    ours, theirs = (_samples((tmp_path / name).read_bytes()) for name in ("ours", "theirs"))
    assert len(ours) == len(theirs)
    # Each step's rounding differs by at most 2 of 65,536, and nothing pulls the sums together.
    assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < 200
    assert sum(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / len(ours) < 50


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", [8000, 44100])
def test_sox_decodes_our_wave_blocks_to_the_same_samples(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path, channels: int, rate: int
) -> None:
    _sweep(tool, "in.wav", channels, rate=rate)
    execute("adpcm", "-w", "in.wav", "coded.wav")
    execute("adpcm", "-d", "-w", "coded.wav", "ours.wav")
    tool("sox", "coded.wav", "-e", "signed-integer", "-b", "16", "theirs.wav")
    ours = _data_of(tmp_path / "ours.wav")
    assert len(ours) == len(_data_of(tmp_path / "in.wav"))
    assert _data_of(tmp_path / "theirs.wav")[: len(ours)] == ours


@pytest.mark.parametrize("channels", [1, 2])
def test_we_decode_the_wave_blocks_of_sox_to_the_same_samples(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path, channels: int
) -> None:
    _sweep(tool, "in.wav", channels)
    tool("sox", "in.wav", "-e", "ima-adpcm", "coded.wav")
    tool("sox", "coded.wav", "-e", "signed-integer", "-b", "16", "theirs.wav")
    execute("adpcm", "-d", "-w", "coded.wav", "ours.wav")
    ours = _data_of(tmp_path / "ours.wav")
    assert len(ours) >= 2 * channels * 10_000
    assert _data_of(tmp_path / "theirs.wav")[: len(ours)] == ours


def test_little_more_is_lost_than_soxs_coder_loses(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path
) -> None:
    _sweep(tool, "in.wav", 1)
    execute("adpcm", "-w", "in.wav", "ours.wav")
    tool("sox", "in.wav", "-e", "ima-adpcm", "theirs.wav")
    before, losses = _data_of(tmp_path / "in.wav"), list[float]()
    for name in ("ours.wav", "theirs.wav"):
        execute("adpcm", "-d", "-w", name, "out.wav")
        losses.append(_noise(before, _data_of(tmp_path / "out.wav")[: len(before)]))
    # sox tries several start states for each block; the recommendation carries the state on.
    assert losses[0] <= 1.25 * losses[1]
