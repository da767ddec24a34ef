# SPDX-License-Identifier: MIT
"""susan against a direct model of the paper's formulas in floating point, and on known shapes."""

import math
import subprocess
from pathlib import Path

import pytest

from .conftest import Compile, Execute, build, cases

Rows = list[list[int]]

CIRCLE = [
    (dx, dy) for dy, reach in zip(range(-3, 4), (1, 2, 3, 3, 3, 2, 1), strict=True)
    for dx in range(-reach, reach + 1)
]  # fmt: skip
SQUARE = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]


def _pgm(rows: Rows) -> bytes:
    return b"P5\n%d %d\n255\n" % (len(rows[0]), len(rows)) + b"".join(map(bytes, rows))


def _read(content: bytes) -> Rows:
    magic, size, largest, pixels = content.split(b"\n", 3)
    width, height = map(int, size.split())
    assert (magic, largest, len(pixels)) == (b"P5", b"255", width * height)
    return [list(pixels[y * width : (y + 1) * width]) for y in range(height)]


def _noisy(seed: int, width: int = 32, height: int = 26) -> Rows:
    rng = cases.Random(seed)
    rows = [[60 + 3 * x + rng.between(-9, 9) for x in range(width)] for _ in range(height)]
    for y in range(8, 18):
        for x in range(10, 22):
            rows[y][x] = 220 + rng.between(-9, 9)
    return rows


def _square(width: int = 40, height: int = 36) -> Rows:
    inside = range(12, 28)
    return [
        [200 if y in inside and x in inside else 50 for x in range(width)] for y in range(height)
    ]


def test_the_mask_has_the_37_pixels_of_the_paper() -> None:
    assert len(CIRCLE) == 37


@pytest.mark.parametrize(("mask", "limit", "options"), [(CIRCLE, 2650, ()), (SQUARE, 730, ("-3",))])
def test_edge_responses_agree_with_the_formula(
    execute: Execute, tmp_path: Path, mask: list[tuple[int, int]], limit: int, options: tuple[str]
) -> None:
    rows = _noisy(1)
    (tmp_path / "in").write_bytes(_pgm(rows))
    execute("susan", "-e", "-r", "-t", "25", *options, "in", "out")
    margin = max(dx for dx, _ in mask)
    model = [[0.0] * len(rows[0]) for _ in rows]
    for y in range(margin, len(rows) - margin):
        for x in range(margin, len(rows[0]) - margin):
            around = ((rows[y + dy][x + dx] - rows[y][x]) / 25 for dx, dy in mask)
            area = sum(100 * math.exp(-(ratio**6)) for ratio in around)
            model[y][x] = max(0.0, limit - area)
    largest = max(map(max, model))
    ours = _read((tmp_path / "out").read_bytes())
    for y, row in enumerate(model):
        for x, value in enumerate(row):
            assert abs(ours[y][x] - 255 * value / largest) < 4, (x, y)
    assert max(map(max, ours)) == 255


@pytest.mark.parametrize(("sigma", "threshold"), [("1", 20), ("2.5", 12), ("4", 40)])
def test_smoothing_agrees_with_the_formula(
    execute: Execute, tmp_path: Path, sigma: str, threshold: int
) -> None:
    rows = _noisy(2)
    (tmp_path / "in").write_bytes(_pgm(rows))
    execute("susan", "-s", "-d", sigma, "-t", str(threshold), "in", "out")
    ours = _read((tmp_path / "out").read_bytes())
    reach = math.ceil(float(sigma) * 1.5) + 1
    for y in range(reach, len(rows) - reach):
        for x in range(reach, len(rows[0]) - reach):
            total = weights = 0.0
            for dy in range(-reach, reach + 1):
                for dx in range(-reach, reach + 1):
                    if dx == dy == 0:
                        continue
                    other = rows[y + dy][x + dx]
                    exponent = (dx * dx + dy * dy) / (2 * float(sigma) ** 2)
                    exponent += ((other - rows[y][x]) / threshold) ** 2
                    weights += math.exp(-exponent)
                    total += other * math.exp(-exponent)
            if weights > 0.3:  # with less, a handful of hundredths decide
                assert abs(ours[y][x] - total / weights) < 2.5, (x, y)


def test_a_square_has_four_corners_where_it_has_them(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(_pgm(_square()))
    lines = execute("susan", "-c", "-l", "in", "out").decode().splitlines()
    assert lines[-1] == "4 corners"
    found = {tuple(map(int, line.split()[:2])) for line in lines[:-1]}
    for corner in [(12, 12), (27, 12), (12, 27), (27, 27)]:
        assert any(max(abs(x - corner[0]), abs(y - corner[1])) <= 1 for x, y in found), found


def test_edges_of_a_square_follow_its_outline(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(_pgm(_square()))
    execute("susan", "-e", "-p", "in", "out")
    rows = _read((tmp_path / "out").read_bytes())
    marked = {(x, y) for y, row in enumerate(rows) for x, v in enumerate(row) if v == 0}
    for x, y in marked:
        inside = 11 <= x <= 28 and 11 <= y <= 28
        core = 14 <= x <= 25 and 14 <= y <= 25
        assert inside, (x, y)
        assert not core, (x, y)
    for at in range(15, 25):
        for line in ([(at, y) for y in (11, 12)], [(at, y) for y in (27, 28)],
                     [(x, at) for x in (11, 12)], [(x, at) for x in (27, 28)]):  # fmt: skip
            assert sum(point in marked for point in line) == 1, line


def test_thinning_only_leaves_fewer_or_bridging_marks(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(_pgm(_noisy(3, 60, 50)))
    counts = [
        int(execute("susan", "-e", "-l", "-t", "12", *options, "in", "out").split()[0])
        for options in ([], ["-n"])
    ]
    assert 0 < counts[0] < counts[1]


def test_a_lonely_speck_becomes_the_median_around_it(execute: Execute, tmp_path: Path) -> None:
    rows = [[100] * 20 for _ in range(20)]
    rows[9][9] = 255
    (tmp_path / "in").write_bytes(_pgm(rows))
    execute("susan", "-s", "-t", "10", "in", "out")
    assert _read((tmp_path / "out").read_bytes()) == [[100] * 20 for _ in range(20)]


def test_smoothing_keeps_a_step_as_sharp_as_it_was(execute: Execute, tmp_path: Path) -> None:
    rows = [[30] * 15 + [220] * 15 for _ in range(20)]
    (tmp_path / "in").write_bytes(_pgm(rows))
    execute("susan", "-s", "in", "out")
    assert _read((tmp_path / "out").read_bytes()) == rows


def test_pillow_reads_its_output(execute: Execute, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    (tmp_path / "in").write_bytes(_pgm(_noisy(4)))
    execute("susan", "-s", "in", "out.pgm")
    with image.open(tmp_path / "out.pgm") as opened:
        assert (opened.mode, opened.size) == ("L", (32, 26))


@pytest.mark.slow
def test_damaged_images_never_upset_the_sanitizers(compile: Compile, tmp_path: Path) -> None:
    binary = compile("susan", flags=build.SANITIZERS)
    rng = cases.Random(5)
    for attempt in range(150):
        damaged = bytearray(_pgm(_noisy(attempt, rng.between(23, 40), rng.between(19, 30))))
        for _ in range(1 + attempt % 3):
            damaged[rng.below(14)] = rng.choice(b"P0123456789 \n#")
        (tmp_path / "bad").write_bytes(damaged)
        done = subprocess.run(
            [binary, ("-s", "-e", "-c")[attempt % 3], "bad", "out"],
            cwd=tmp_path, capture_output=True, timeout=60,
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
