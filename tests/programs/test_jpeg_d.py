# SPDX-License-Identifier: MIT
"""jpeg-d against djpeg, with which it agrees in every pixel, and against Pillow."""

import io
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Compile, Execute, build, cases
from .test_jpeg_c import _picture, _psnr  # pyright: ignore[reportPrivateUsage]  # the same helpers

Tool = Callable[..., bytes]

PACKAGE = "libjpeg-turbo-progs"

CODED = (
    "",
    "-quality 95",
    "-quality 3",
    "-quality 100 -progressive",
    "-grayscale",
    "-sample 1x1",
    "-sample 2x1",
    "-sample 1x2",
    "-sample 4x1",
    "-sample 4x2",
    "-sample 2x2,1x2,2x1",
    "-progressive",
    "-progressive -sample 1x1 -quality 90",
    "-restart 1",
    "-restart 5b -optimize",
    "-progressive -restart 7b",
    "-rgb",
)


def _coded(tool: Tool, tmp_path: Path, options: str, size: tuple[int, int]) -> None:
    (tmp_path / "in.ppm").write_bytes(_picture(*size))
    coded = tool("cjpeg", *options.split(), "in.ppm", package=PACKAGE)
    (tmp_path / "in.jpg").write_bytes(coded)


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (37, 53), (130, 67)])
@pytest.mark.parametrize("options", CODED)
def test_it_gives_the_same_pixels_as_djpeg(
    execute: Execute, tool: Tool, tmp_path: Path, size: tuple[int, int], options: str
) -> None:
    _coded(tool, tmp_path, options, size)
    for how in ([], ["-nosmooth"], ["-grayscale"], ["-bmp"]):
        execute("jpeg-d", *how, "in.jpg", "out")
        theirs = tool("djpeg", "-dct", "int", *how, "in.jpg", package=PACKAGE)
        ours = (tmp_path / "out").read_bytes()
        if how == ["-bmp"]:
            # Only the pixels: libjpeg-turbo also fills in a resolution.
            start = int.from_bytes(ours[10:14], "little")
            assert ours[start:] == theirs[int.from_bytes(theirs[10:14], "little") :]
        else:
            assert ours == theirs


def test_files_of_random_coefficients_decode_as_in_djpeg(
    execute: Execute, tool: Tool, tmp_path: Path
) -> None:
    program = cases.Program.load(build.ROOT / "jpeg-d")
    compared = 0
    for index in range(34):
        (tmp_path / "in.jpg").write_bytes(program.case("test", index).files["in.jpg"])
        execute("jpeg-d", "in.jpg", "out")
        theirs = tool("djpeg", "-dct", "int", "in.jpg", package=PACKAGE)
        assert (tmp_path / "out").read_bytes() == theirs, index
        compared += 1
    assert compared == 34


@pytest.mark.parametrize(("scale", "least"), [("1/2", 32.0), ("1/4", 34.0), ("1/8", 36.0)])
def test_reduced_images_are_close_to_those_of_djpeg(
    execute: Execute, tool: Tool, tmp_path: Path, scale: str, least: float
) -> None:
    _coded(tool, tmp_path, "-quality 90", (150, 91))
    execute("jpeg-d", "-scale", scale, "in.jpg", "out")
    theirs = tool("djpeg", "-dct", "int", "-scale", scale, "in.jpg", package=PACKAGE)
    ours = (tmp_path / "out").read_bytes()
    assert ours[:12] == theirs[:12]
    assert _psnr(ours[-3000:], theirs[-3000:]) > least


def test_the_fast_transform_is_close_to_the_accurate_one(
    execute: Execute, tool: Tool, tmp_path: Path
) -> None:
    _coded(tool, tmp_path, "-quality 90", (150, 91))
    execute("jpeg-d", "-dct", "fast", "in.jpg", "fast")
    execute("jpeg-d", "-dct", "int", "in.jpg", "int")
    fast, accurate = ((tmp_path / name).read_bytes() for name in ("fast", "int"))
    assert fast != accurate
    assert _psnr(fast, accurate) > 42


@pytest.mark.parametrize("how", ["-targa", "-rle", "-bmp", "-gif", "-grayscale -rle"])
def test_pillow_reads_every_output(execute: Execute, tool: Tool, tmp_path: Path, how: str) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    _coded(tool, tmp_path, "", (90, 61))
    execute("jpeg-d", *how.split(), "in.jpg", "out")
    seen = image.open(io.BytesIO((tmp_path / "out").read_bytes()))
    gray = ["-grayscale"] if "-grayscale" in how else []
    whole = tool("djpeg", "-dct", "int", *gray, "in.jpg", package=PACKAGE)
    wanted = image.open(io.BytesIO(whole)).convert("RGB").tobytes()
    if how == "-gif":
        assert _psnr(seen.convert("RGB").tobytes(), wanted) > 24
    else:
        assert seen.convert("RGB").tobytes() == wanted


@pytest.mark.parametrize(
    ("how", "most", "least"),
    [
        ("-colors 256", 256, 24.0),
        ("-colors 256 -dither none", 256, 27.0),
        ("-colors 16 -dither none", 16, 17.0),
        ("-colors 64 -dither ordered", 64, 17.0),
        ("-colors 27 -onepass", 27, 10.0),
        ("-colors 27 -onepass -dither none", 27, 12.0),
        ("-colors 125 -onepass -dither ordered", 125, 14.0),
        ("-colors 4 -onepass -grayscale", 4, 14.0),
    ],
)
def test_colours_are_reduced_to_the_requested_number(
    execute: Execute, tool: Tool, tmp_path: Path, how: str, most: int, least: float
) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    _coded(tool, tmp_path, "-quality 90", (120, 80))
    execute("jpeg-d", *how.split(), "in.jpg", "out")
    gray = ["-grayscale"] if "-grayscale" in how else []
    execute("jpeg-d", *gray, "in.jpg", "full")
    contents = [io.BytesIO((tmp_path / name).read_bytes()) for name in ("out", "full")]
    seen, full = (image.open(content).convert("RGB") for content in contents)
    colors = seen.getcolors(1 << 16)
    assert 2 <= len(colors) <= most
    assert _psnr(seen.tobytes(), full.tobytes()) > least


def test_inks_become_colours_as_in_pillow(execute: Execute, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    picture = image.open(io.BytesIO(_picture(70, 50))).convert("CMYK")
    picture.save(tmp_path / "in.jpg", "JPEG", quality=95)
    execute("jpeg-d", "in.jpg", "out")
    coded = io.BytesIO((tmp_path / "in.jpg").read_bytes())
    wanted = image.open(coded).convert("RGB").tobytes()
    assert _psnr((tmp_path / "out").read_bytes()[-len(wanted) :], wanted) > 40


def test_tables_that_were_left_out_are_the_standard_ones(
    execute: Execute, tool: Tool, tmp_path: Path
) -> None:
    _coded(tool, tmp_path, "-quality 80", (60, 44))
    execute("jpeg-d", "in.jpg", "whole")
    content = (tmp_path / "in.jpg").read_bytes()
    while (at := content.find(b"\xff\xc4")) >= 0:
        content = content[:at] + content[at + 2 + int.from_bytes(content[at + 2 : at + 4], "big") :]
    (tmp_path / "bare.jpg").write_bytes(content)
    execute("jpeg-d", "bare.jpg", "bare")
    assert (tmp_path / "bare").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_lost_restart_interval_costs_no_more_than_itself(
    execute: Execute, tool: Tool, tmp_path: Path
) -> None:
    _coded(tool, tmp_path, "-restart 1 -grayscale -quality 90", (64, 128))
    whole = (tmp_path / "in.jpg").read_bytes()
    first, second = whole.index(b"\xff\xd3"), whole.index(b"\xff\xd4")
    execute("jpeg-d", "in.jpg", "good")
    (tmp_path / "bad.jpg").write_bytes(whole[:first] + whole[second:])
    execute("jpeg-d", "bad.jpg", "bad", status=2)
    good, bad = ((tmp_path / name).read_bytes()[-64 * 128 :] for name in ("good", "bad"))
    wrong = [row for row in range(16) if good[512 * row :][:512] != bad[512 * row :][:512]]
    assert wrong == [4]


@pytest.mark.slow
@pytest.mark.parametrize("options", ["-optimize", "-progressive", "-restart 1 -sample 2x1"])
def test_damage_never_upsets_the_sanitizers(
    compile: Compile, tool: Tool, tmp_path: Path, options: str
) -> None:
    binary = compile("jpeg-d", flags=build.SANITIZERS)
    _coded(tool, tmp_path, options, (48, 40))
    whole = (tmp_path / "in.jpg").read_bytes()
    rng = cases.Random.named(options)
    statuses: set[int] = set()
    for attempt in range(120):
        damaged = bytearray(whole)
        for _ in range(1 + attempt % 5):
            damaged[rng.between(2, len(damaged) - 1)] = rng.below(256)
        (tmp_path / "bad.jpg").write_bytes(damaged[: rng.between(len(whole) // 2, 3 * len(whole))])
        how = (["-bmp"], ["-gif"], ["-dct", "fast"], ["-scale", "1/2"])[attempt % 4]
        done = subprocess.run(
            [binary, *how, "bad.jpg", "out"], cwd=tmp_path, capture_output=True, timeout=60
        )
        assert done.returncode in (0, 1, 2), done.stderr
        statuses.add(done.returncode)
    assert len(statuses) > 1
