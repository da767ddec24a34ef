# SPDX-License-Identifier: MIT
"""gsm, bit for bit, against libgsm's toast and against sox."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Compile, Execute, build, cases

Tool = Callable[..., bytes]

FRAME = 160


def _signal(kind: str) -> list[int]:
    rng = cases.Random.named(kind)
    count = 40 * FRAME
    if kind == "noise":
        return [rng.between(-32768, 32767) for _ in range(count)]
    if kind == "square":
        return [32767 if i // 37 % 2 else -32768 for i in range(count)]
    if kind == "quiet":
        return [rng.between(-9, 9) for _ in range(count)]
    if kind == "silence":
        return [0] * count
    if kind == "pulses":
        return [32767 if i % 200 == 0 else 0 for i in range(count)]
    if kind == "lowest":
        return [-32768] * count
    if kind == "saw":
        return [(i * i // 40) % 20000 - 10000 for i in range(count)]
    return [(i % 90) * 300 - 13000 + rng.between(-2000, 2000) for i in range(count - 30)]


KINDS = ("noise", "square", "quiet", "silence", "pulses", "lowest", "saw", "voice")


def _linear(samples: list[int]) -> bytes:
    return b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples)


@pytest.mark.parametrize("kind", KINDS)
def test_coded_frames_equal_those_of_libgsm(
    execute: Execute, tool: Tool, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "in").write_bytes(_linear(_signal(kind)))
    execute("gsm", "-e", "in", "out")
    theirs = tool("toast", "-l", "-p", "-c", "in", package="libgsm-tools")
    assert (tmp_path / "out").read_bytes() == theirs
    assert len(theirs) == 33 * 40


@pytest.mark.parametrize("kind", KINDS)
def test_decoded_samples_equal_those_of_libgsm(
    execute: Execute, tool: Tool, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "in").write_bytes(_linear(_signal(kind)))
    execute("gsm", "-e", "in", "coded.gsm")
    execute("gsm", "-d", "coded.gsm", "out")
    theirs = tool("untoast", "-l", "-p", "-c", "coded.gsm", package="libgsm-tools")
    assert (tmp_path / "out").read_bytes() == theirs


def test_frames_of_noise_decode_as_in_libgsm(execute: Execute, tool: Tool, tmp_path: Path) -> None:
    rng = cases.Random(3)
    frames = b"".join(bytes([0xD0 | rng.below(16)]) + rng.data(32) for _ in range(300))
    (tmp_path / "in.gsm").write_bytes(frames)
    execute("gsm", "-d", "in.gsm", "out")
    theirs = tool("untoast", "-l", "-p", "-c", "in.gsm", package="libgsm-tools")
    assert (tmp_path / "out").read_bytes() == theirs


def test_a_law_speech_codes_as_in_libgsm(execute: Execute, tool: Tool, tmp_path: Path) -> None:
    """Not so for mu-law: toast's own table differs from G.711, which the next tests hold up."""
    (tmp_path / "in").write_bytes(cases.Random(4).data(30 * FRAME))
    execute("gsm", "-e", "-f", "alaw", "in", "out")
    theirs = tool("toast", "-a", "-p", "-c", "in", package="libgsm-tools")
    assert (tmp_path / "out").read_bytes() == theirs


@pytest.mark.parametrize("form", ["ulaw", "alaw"])
def test_every_code_of_a_companding_law_survives_sox(
    execute: Execute, tool: Tool, tmp_path: Path, form: str
) -> None:
    """Coding the samples that sox expands gives the same frames as coding the codes."""
    codes = bytes(range(256)) * 3
    raw = ["-t", "raw", "-r", "8000", "-c", "1"]
    law = {"ulaw": "mu-law", "alaw": "a-law"}[form]
    (tmp_path / "codes").write_bytes(codes)
    linear = tool("sox", "-D", *raw, "-e", law, "codes", *raw, "-e", "signed", "-b", "16", "-")
    (tmp_path / "linear").write_bytes(linear)
    execute("gsm", "-e", "-f", form, "codes", "from_codes")
    execute("gsm", "-e", "linear", "from_linear")
    assert (tmp_path / "from_codes").read_bytes() == (tmp_path / "from_linear").read_bytes()


@pytest.mark.parametrize("form", ["ulaw", "alaw"])
def test_decoded_samples_are_companded_as_by_sox(
    execute: Execute, tool: Tool, tmp_path: Path, form: str
) -> None:
    rng = cases.Random(5)
    frames = b"".join(bytes([0xD0 | rng.below(16)]) + rng.data(32) for _ in range(100))
    (tmp_path / "in.gsm").write_bytes(frames)
    execute("gsm", "-d", "in.gsm", "linear")
    execute("gsm", "-d", "-f", form, "in.gsm", "codes")
    raw = ["-t", "raw", "-r", "8000", "-c", "1"]
    law = {"ulaw": "mu-law", "alaw": "a-law"}[form]
    linear = ["-e", "signed", "-b", "16"]
    back = tool("sox", "-D", *raw, "-e", law, "codes", *raw, *linear, "-")
    ours = (tmp_path / "linear").read_bytes()
    assert len(back) == len(ours)
    for at in range(0, len(ours), 2):
        sample = int.from_bytes(ours[at : at + 2], "little", signed=True)
        shown = int.from_bytes(back[at : at + 2], "little", signed=True)
        # Half a step of the coarsest segment reached, and what clipping takes away.
        assert abs(sample - shown) <= max(16, abs(sample) // 31 + 16), (sample, shown)


def test_sox_decodes_our_wave_file_and_we_decode_that_of_sox(
    execute: Execute, tool: Tool, tmp_path: Path
) -> None:
    samples = _linear(_signal("voice") + [100] * 30)
    raw = ["-t", "raw", "-r", "8000", "-c", "1", "-e", "signed", "-b", "16"]
    (tmp_path / "in").write_bytes(samples)
    execute("gsm", "-e", "-w", "in", "ours.wav")
    tool("sox", "-D", *raw, "in", "-e", "gsm-full-rate", "theirs.wav")
    ours = (tmp_path / "ours.wav").read_bytes()
    theirs = (tmp_path / "theirs.wav").read_bytes()
    assert ours[60:] == theirs[60:]
    from_ours = tool("sox", "-D", "ours.wav", *raw, "-")
    for name in ("ours.wav", "theirs.wav"):
        execute("gsm", "-d", name, "out")
        assert (tmp_path / "out").read_bytes()[: len(samples)] == from_ours[: len(samples)]


def test_the_list_shows_the_parameters_of_each_frame(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "in.gsm").write_bytes((b"\xd0" + bytes(32)) * 2)
    text = execute("gsm", "-l", "in.gsm").decode().splitlines()
    assert text[0] == "frame 0"
    assert text[1].split() == ["LARc", *["0"] * 8]
    assert len(text) == 12


@pytest.mark.slow
def test_damaged_containers_never_upset_the_sanitizers(compile: Compile, tmp_path: Path) -> None:
    binary = compile("gsm", flags=build.SANITIZERS)
    rng = cases.Random(7)
    program = cases.Program.load(build.ROOT / "gsm")
    wave, au = program.case("test", 9).files["a"], program.case("test", 8).files["a"]
    for attempt in range(150):
        damaged = bytearray(wave if attempt % 2 else au)[: rng.between(0, 400)]
        for _ in range(attempt % 4):
            if damaged:
                damaged[rng.below(min(len(damaged), 60))] = rng.below(256)
        (tmp_path / "bad").write_bytes(damaged)
        form = "wav" if attempt % 2 else "au"
        for job in (["-e", "-f", form], ["-d"]):
            done = subprocess.run([binary, *job, "bad", "out"], cwd=tmp_path, capture_output=True)
            assert done.returncode in (0, 1), done.stderr
