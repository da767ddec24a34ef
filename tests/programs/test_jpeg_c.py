# SPDX-License-Identifier: MIT
"""jpeg-c against cjpeg, whose files it reproduces byte by byte, and against djpeg and Pillow."""

import io
import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Compile, Execute, build, cases

Tool = Callable[..., bytes]

PACKAGE = "libjpeg-turbo-progs"

SAME_AS_CJPEG = (
    "",
    "-quality 95",
    "-quality 10",
    "-quality 3",
    "-quality 3 -baseline",
    "-quality 100 -optimize",
    "-grayscale",
    "-rgb",
    "-sample 1x1",
    "-sample 2x1 -optimize",
    "-sample 1x2",
    "-sample 4x1",
    "-sample 4x1,2x1,1x1",
    "-sample 2x2,1x2,2x1",
    "-dct fast",
    "-dct fast -quality 92 -optimize",
    "-restart 1",
    "-restart 5b",
    "-progressive",
    "-progressive -sample 1x1 -quality 90",
    "-progressive -restart 7b",
    "-progressive -restart 1",
    "-progressive -grayscale",
    "-progressive -rgb -quality 99",
)


def _picture(width: int, height: int) -> bytes:
    """Return a PPM of gradients, a hard edge and some noise."""
    rng = cases.Random(width * 1000 + height)
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            noise = rng.between(-12, 12)
            edge = 90 if x > y else 0
            for level in (2 * x + edge + noise, 255 - 3 * y + noise, (x * y // 7) % 200 + edge):
                pixels.append(max(0, min(255, level)))
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(pixels)


@pytest.mark.parametrize("size", [(1, 1), (8, 9), (37, 53), (130, 67)])
@pytest.mark.parametrize("options", SAME_AS_CJPEG)
def test_it_writes_the_same_bytes_as_cjpeg(
    execute: Execute, tool: Tool, tmp_path: Path, size: tuple[int, int], options: str
) -> None:
    (tmp_path / "in.ppm").write_bytes(_picture(*size))
    execute("jpeg-c", *options.split(), "in.ppm", "out.jpg")
    theirs = tool("cjpeg", *options.split(), "in.ppm", package=PACKAGE)
    assert (tmp_path / "out.jpg").read_bytes() == theirs


def _psnr(one: bytes, other: bytes) -> float:
    assert len(one) == len(other)
    squares = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
    return math.inf if squares == 0 else 10 * math.log10(255**2 * len(one) / squares)


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ("-quality 100 -sample 1x1", 43.0),
        ("-quality 90 -sample 1x1", 31.0),
        ("-quality 75", 23.0),
        ("-quality 75 -dct fast -progressive", 23.0),
        ("-quality 90 -smooth 10", 21.0),
        ("-rgb -quality 95", 33.0),
    ],
)
def test_pillow_opens_its_files_and_sees_about_the_same(
    execute: Execute, tmp_path: Path, options: str, least: float
) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    picture = _picture(96, 64)
    (tmp_path / "in.ppm").write_bytes(picture)
    execute("jpeg-c", *options.split(), "in.ppm", "out.jpg")
    opened = image.open(io.BytesIO((tmp_path / "out.jpg").read_bytes())).convert("RGB")
    assert opened.size == (96, 64)
    assert _psnr(opened.tobytes(), picture[-96 * 64 * 3 :]) > least


@pytest.mark.parametrize(
    ("mode", "form", "options"),
    [
        ("RGB", "PPM", {}),
        ("L", "PPM", {}),
        ("RGB", "BMP", {}),
        ("P", "BMP", {}),
        ("L", "BMP", {}),
        ("RGB", "TGA", {}),
        ("RGB", "TGA", {"compression": "tga_rle"}),
        ("RGBA", "TGA", {"compression": "tga_rle"}),
        ("L", "TGA", {"compression": "tga_rle"}),
        ("P", "TGA", {}),
        ("P", "GIF", {}),
        ("P", "GIF", {"interlace": 0}),
        ("L", "GIF", {}),
    ],
)
def test_it_reads_what_pillow_writes(
    execute: Execute, tmp_path: Path, mode: str, form: str, options: dict[str, object]
) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    whole = image.open(io.BytesIO(_picture(50, 41)))
    picture = whole.quantize(64) if mode == "P" else whole.convert(mode)
    picture.save(tmp_path / "in", form, **options)
    targa = ["-targa"] if form == "TGA" else []
    execute("jpeg-c", *targa, "-quality", "98", "-sample", "1x1", "in", "out.jpg")
    gray = mode == "L"
    opened = image.open(io.BytesIO((tmp_path / "out.jpg").read_bytes()))
    assert (opened.mode == "L") == gray
    assert _psnr(opened.convert("RGB").tobytes(), picture.convert("RGB").tobytes()) > 36


def test_tables_and_scans_are_read_as_cjpeg_reads_them(
    execute: Execute, tool: Tool, tmp_path: Path
) -> None:
    (tmp_path / "in.ppm").write_bytes(_picture(60, 44))
    table = " ".join(str(3 + i) for i in range(64))
    (tmp_path / "tables").write_text(f"# one\n{table}\n{table}\n")
    (tmp_path / "scans").write_text(
        "0,1,2: 0-0, 0, 1;\n0: 1-63, 0, 2;\n1: 1-63, 0, 0; # colour\n2: 1-63, 0, 0;\n"
        "0: 1-63, 2, 1; 0,1,2: 0-0, 1, 0; 0: 1-63, 1, 0;\n"
    )
    for options in (["-qtables", "tables"], ["-scans", "scans"]):
        execute("jpeg-c", *options, "in.ppm", "out.jpg")
        theirs = tool("cjpeg", *options, "in.ppm", package=PACKAGE)
        assert (tmp_path / "out.jpg").read_bytes() == theirs


@pytest.mark.slow
def test_damaged_images_never_upset_the_sanitizers(compile: Compile, tmp_path: Path) -> None:
    binary = compile("jpeg-c", flags=build.SANITIZERS)
    program = cases.Program.load(build.ROOT / "jpeg-c")
    rng = cases.Random(8)
    inputs = [program.case("test", index) for index in range(20, 30)]
    for attempt in range(200):
        case = inputs[attempt % len(inputs)]
        damaged = bytearray(case.files["in"])
        for _ in range(1 + attempt % 4):
            damaged[rng.below(min(len(damaged), 60 if attempt % 2 else 10_000))] = rng.below(256)
        (tmp_path / "bad").write_bytes(damaged[: rng.between(1, 2 * len(damaged))])
        targa = ["-targa"] if "-targa" in case.argv else []
        done = subprocess.run(
            [binary, *targa, "bad", "out"], cwd=tmp_path, capture_output=True, timeout=60
        )
        assert done.returncode in (0, 1), done.stderr
