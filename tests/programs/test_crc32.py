# SPDX-License-Identifier: MIT
"""crc32 against zlib (through Python's binding) and against what gzip stores."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Execute, cases


@pytest.mark.parametrize("length", [0, 1, 2, 3, 100, 32767, 32768, 32769, 300_000])
def test_the_sum_of_any_length_is_zlibs(execute: Execute, tmp_path: Path, length: int) -> None:
    content = cases.Random(length).data(length)
    (tmp_path / "f").write_bytes(content)
    assert execute("crc32", "f") == b"%08x %d f\n" % (zlib.crc32(content), length)


@pytest.mark.parametrize("seed", range(8))
def test_the_total_is_the_sum_of_the_concatenation(
    execute: Execute, tmp_path: Path, seed: int
) -> None:
    rng = cases.Random(seed)
    parts = [rng.data(rng.below(3000)) for _ in range(rng.between(1, 6))]
    for number, part in enumerate(parts):
        (tmp_path / str(number)).write_bytes(part)
    last = execute("crc32", "-t", *map(str, range(len(parts)))).splitlines()[-1]
    whole = b"".join(parts)
    assert last == b"%08x %d total" % (zlib.crc32(whole), len(whole))


def test_passes_repeat_the_file(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert execute("crc32", "-n", "7", "f") == b"%08x 21 f\n" % zlib.crc32(b"abc" * 7)


def test_gzip_stores_the_same_sum(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path
) -> None:
    content = cases.prose(cases.Random(3), 50_000)
    (tmp_path / "f").write_bytes(content)
    trailer = tool("gzip", "-c", "f")[-8:]
    assert execute("crc32", "f").split()[0].decode() == trailer[3::-1].hex()
