# SPDX-License-Identifier: MIT
"""qsort against Python's sort, coreutils' sort and the C library's qsort."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Execute, cases


def _points(count: int, reach: int) -> list[tuple[int, ...]]:
    rng = cases.Random(count)
    return [tuple(rng.between(-reach, reach) for _ in "xyz") for _ in range(count)]


def _text(points: list[tuple[int, ...]]) -> bytes:
    return "".join("{} {} {}\n".format(*point) for point in points).encode()


@pytest.mark.parametrize("sorter", [(), ("-l",), ("-b",)])
@pytest.mark.parametrize("count", [0, 1, 2, 12, 13, 14, 127, 128, 5000])
def test_points_are_ordered_as_python_orders_them(
    execute: Execute, tmp_path: Path, sorter: tuple[str, ...], count: int
) -> None:
    points = _points(count, 30)
    (tmp_path / "f").write_bytes(_text(points))
    expected = sorted(points, key=lambda p: (sum(x * x for x in p), p))
    assert execute("qsort", *sorter, "f") == _text(expected)


def test_the_farthest_points_do_not_overflow(execute: Execute, tmp_path: Path) -> None:
    far = 1_000_000_000
    points = [(far, far, far), (-far, far, -far), (far, 0, 0), (0, 0, 0), (0, -far, 1)]
    (tmp_path / "f").write_bytes(_text(points))
    expected = sorted(points, key=lambda p: (sum(x * x for x in p), p))
    assert execute("qsort", "f") == _text(expected)


def test_lines_are_ordered_as_sort_orders_them(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path
) -> None:
    words = cases.prose(cases.Random(1), 40_000).replace(b" ", b"\n")
    (tmp_path / "f").write_bytes(words)
    byte_order = tool("env", "LC_ALL=C", "sort", "f", package="coreutils")
    assert execute("qsort", "-s", "f") == byte_order
    assert execute("qsort", "-s", "-r", "f") == b"\n".join(byte_order.split(b"\n")[-2::-1]) + b"\n"


def test_lines_that_differ_in_case_alone_keep_their_order(execute: Execute, tmp_path: Path) -> None:
    lines = [b"b", b"B", b"a", b"_", b"A", b"ab", b"AB", b"Ab", b""] * 40
    (tmp_path / "f").write_bytes(b"\n".join(lines) + b"\n")
    assert execute("qsort", "-f", "f") == b"\n".join(sorted(lines, key=bytes.lower)) + b"\n"


def _killer(count: int) -> list[int]:
    """Return an order that a median of three alone splits badly again and again."""
    half = count // 2
    return [i + 1 if i % 2 == 0 else half + i for i in range(half)] + list(range(2, count + 1, 2))


@pytest.mark.parametrize("kind", ["equal", "sorted", "reversed", "organ pipe", "killer"])
def test_no_order_takes_quadratic_time(execute: Execute, tmp_path: Path, kind: str) -> None:
    count = 20_000
    orders = {
        "equal": [7] * count,
        "sorted": list(range(count)),
        "reversed": list(range(count, 0, -1)),
        "organ pipe": [min(i, count - i) for i in range(count)],
        "killer": _killer(count),
    }
    (tmp_path / "f").write_bytes(_text([(x, 0, 0) for x in orders[kind]]))
    tail = execute("qsort", "-c", "f").splitlines()[-1].split()
    assert int(tail[2]) < 4 * count * 15


def test_blanks_around_coordinates_do_not_matter(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b" 5\t0  0 \r\n-1 0 0 \t")
    assert execute("qsort", "f") == b"-1 0 0\n5 0 0\n"


def test_many_rounds_end_in_the_same_order(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(_text(_points(700, 1000)))
    assert execute("qsort", "-b", "-n", "20", "f") == execute("qsort", "f")


@pytest.mark.parametrize(
    "text", [b"1 2", b"1 2 3 4", b"a b c", b"1 2 3\n\n4 5 6", b"1 2 9999999999"]
)
def test_a_line_that_is_not_a_point_is_refused(
    execute: Execute, tmp_path: Path, text: bytes
) -> None:
    (tmp_path / "f").write_bytes(text)
    assert execute("qsort", "f", status=3) == b""
