# SPDX-License-Identifier: MIT
"""bitcount against Python's own count of set bits."""

from pathlib import Path

import pytest

from .conftest import Execute, cases


def _totals(output: bytes) -> dict[str, int]:
    lines = [line.split() for line in output.decode().splitlines()]
    return {name: int(total) for name, total in lines[1:11]}


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 15, 16, 17, 1000])
def test_all_ten_algorithms_give_pythons_count(
    execute: Execute, tmp_path: Path, count: int
) -> None:
    rng = cases.Random(count)
    numbers = [rng.below(1 << rng.between(1, 32)) for _ in range(count)]
    (tmp_path / "f").write_text(" ".join(map(str, numbers)))
    totals = _totals(execute("bitcount", "f"))
    assert len(totals) == 10
    assert set(totals.values()) == {sum(n.bit_count() for n in numbers)}


@pytest.mark.parametrize("number", [0, 1, 0x80000000, 0xFFFFFFFF, 0x55555555, 0x12345678])
def test_decimal_and_hexadecimal_spell_the_same_number(execute: Execute, number: int) -> None:
    decimal = execute("bitcount", "-", stdin=str(number).encode())
    assert decimal == execute("bitcount", "-", stdin=hex(number).encode())
    assert set(_totals(decimal).values()) == {number.bit_count()}


def test_each_round_counts_the_changed_numbers(execute: Execute) -> None:
    value, total = 12345, (12345).bit_count()
    for _ in range(3):
        value = (value * 0x9E3779B1 + 0x7F4A7C15) % (1 << 32)
        value ^= value >> 16
        total += value.bit_count()
    assert set(_totals(execute("bitcount", "-n", "4", "-", stdin=b"12345")).values()) == {total}


def test_the_histogram_counts_every_number_once(execute: Execute) -> None:
    output = execute("bitcount", "-h", "-", stdin=b"0 1 2 3 4294967295").decode().splitlines()
    assert output[11:] == [
        " 0 bits: 1 numbers",
        " 1 bits: 2 numbers",
        " 2 bits: 1 numbers",
        "32 bits: 1 numbers",
    ]


@pytest.mark.parametrize("text", [b"one", b"1 -2", b"4294967296", b"0xg", b"99999999999999999999"])
def test_an_invalid_number_is_an_error(execute: Execute, text: bytes) -> None:
    assert execute("bitcount", "-", stdin=text, status=1) == b""
