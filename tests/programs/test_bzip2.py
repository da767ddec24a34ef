# SPDX-License-Identifier: MIT
"""bzip2 against Debian's bzip2, in both directions, and against damaged files."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Compile, Execute, build, cases

Tool = Callable[..., bytes]

CONTENTS = {
    "empty": b"",
    "one byte": b"x",
    "one run": b"a" * 70_000,
    "run of 255 and 256": b"b" * 255 + b"c" + b"b" * 256,
    "period of two": b"ab" * 30_000,
    "period of 4096": cases.Random(1).data(4096) * 12,
    "noise": cases.Random(2).data(120_000),
    "prose": cases.prose(cases.Random(3), 250_000),
    "all bytes": bytes(range(256)) * 64,
    "end of block": cases.Random(4).data(99_981),
}


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("options", [["-1"], ["-9"], ["--sort=fallback"], ["-2", "--sort=main"]])
def test_debians_bzip2_unpacks_what_we_compress(
    execute: Execute, tool: Tool, tmp_path: Path, name: str, options: list[str]
) -> None:
    (tmp_path / "in").write_bytes(CONTENTS[name])
    execute("bzip2", *options, "in", "out.bz2")
    assert tool("bzip2", "-dc", "out.bz2") == CONTENTS[name]


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("level", ["-1", "-9"])
def test_we_unpack_what_debians_bzip2_compresses(
    execute: Execute, tool: Tool, tmp_path: Path, name: str, level: str
) -> None:
    packed = tool("bzip2", "-c", level, stdin=CONTENTS[name])
    (tmp_path / "in.bz2").write_bytes(packed)
    assert execute("bzip2", "-d", "in.bz2") == CONTENTS[name]
    assert execute("bzip2", "-ds", "in.bz2") == CONTENTS[name]
    execute("bzip2", "-t", "in.bz2")


def test_we_compress_about_as_well_as_debians_bzip2(
    execute: Execute, tool: Tool, tmp_path: Path
) -> None:
    (tmp_path / "in").write_bytes(CONTENTS["prose"])
    ours = execute("bzip2", "-9", "in")
    theirs = tool("bzip2", "-c9", "in")
    assert len(ours) <= len(theirs) * 1.01


def test_both_sorts_give_the_same_file(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(CONTENTS["prose"])
    assert execute("bzip2", "--sort=main", "in") == execute("bzip2", "--sort=fallback", "in")


def test_a_repetitive_block_falls_back_and_stays_fast(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"abcdefghij" * 60_000)
    report = execute("bzip2", "-v", "in", "out")
    assert b"blocks sorted by the fallback 1" in report


def test_undamaged_blocks_are_recovered(execute: Execute, tool: Tool, tmp_path: Path) -> None:
    content = cases.Random(5).data(250_000)
    packed = bytearray(tool("bzip2", "-c1", stdin=content))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "in.bz2").write_bytes(packed)
    execute("bzip2", "-d", "in.bz2", "out", status=2)
    assert not (tmp_path / "out").exists()
    execute("bzip2", "-r", "in.bz2", "part")
    pieces = sorted(tmp_path.glob("part*"))
    assert len(pieces) == 3
    execute("bzip2", "-t", pieces[1], status=2)
    unpacked = [tool("bzip2", "-dc", piece) for piece in (pieces[0], pieces[2])]
    assert content.startswith(unpacked[0])
    assert content.endswith(unpacked[1])


def test_every_truncation_of_a_stream_is_an_error(
    execute: Execute, tool: Tool, tmp_path: Path
) -> None:
    packed = tool("bzip2", "-c", stdin=b"some words to be compressed, some words")
    for length in range(len(packed)):
        (tmp_path / "cut").write_bytes(packed[:length])
        execute("bzip2", "-t", "cut", status=2)


@pytest.mark.slow
def test_damage_never_upsets_the_sanitizers_and_is_always_noticed(
    compile: Compile, tool: Tool, tmp_path: Path
) -> None:
    binary = compile("bzip2", flags=build.SANITIZERS)
    rng = cases.Random(6)
    packed = tool("bzip2", "-c", stdin=cases.prose(rng, 1500) + b"z" * 900)
    for attempt in range(300):
        damaged = bytearray(packed)
        for _ in range(1 + attempt % 3):
            damaged[rng.between(4, len(damaged) - 1)] = rng.below(256)
        if bytes(damaged) == packed:
            continue
        (tmp_path / "bad").write_bytes(damaged)
        done = subprocess.run(
            [binary, "-ds" if attempt % 2 else "-d", "bad"], cwd=tmp_path, capture_output=True
        )
        assert done.returncode == 2 or _only_padding_changed(packed, bytes(damaged)), done.stderr


def _only_padding_changed(packed: bytes, damaged: bytes) -> bool:
    return packed[:-1] == damaged[:-1]
